import HTTPTypes
import JSON
import Support
import Testing

@Suite("Control: clock")
struct ClockControlTests {
    @Test("sets, freezes, moves and releases the clock", arguments: Depth.allCases)
    func life(_ depth: Depth) async throws {
        let world = try await World(depth, at: nil)
        let fresh = try await world.control(.get, "clock")
        #expect(fresh.json["machine_time"] == true)
        #expect(fresh.json["frozen"] == false)
        let frozen = try await world.control(.put, "clock", #"{"now":"2027-01-15T08:00:00Z","freeze":true}"#)
        #expect(
            frozen.text
                == #"{"now":"2027-01-15T08:00:00.000Z","unix":1800000000,"frozen":true,"machine_time":false}"#)
        let moved = try await world.control(.put, "clock", #"{"advance":"31m"}"#)
        #expect(moved.json["unix"] == 1_800_001_860)
        #expect(try await world.control(.get, "clock").text == moved.text)
        let released = try await world.control(.put, "clock", #"{"freeze":false}"#)
        #expect(released.json["frozen"] == false)
        #expect(try #require(released.json["unix"]?.number?.double) >= 1_800_001_860)
    }

    @Test(
        "DELETE and a null give the machine's time back, also where a seed had stopped the clock",
        arguments: Depth.allCases)
    func release(_ depth: Depth) async throws {
        for (method, body) in [(HTTPRequest.Method.delete, ""), (.put, #"{"now":null}"#)] {
            for prepare in [#"{"now":5}"#, #"{"now":5,"freeze":true}"#, #"{"advance":"-1h"}"#] {
                let world = try await World(depth, at: nil)
                try await world.control(.put, "clock", prepare)
                let released = try await world.control(method, "clock", body)
                #expect(released.status == 200)
                #expect(released.json["machine_time"] == true, "\(released.text)")
                #expect(try await world.control(.get, "clock").json["frozen"] == false)
            }
            let seeded = try await World(depth, at: nil)
            try await seeded.set(seed: 7)
            #expect(try await seeded.control(method, "clock", body).json["machine_time"] == true)
        }
    }

    @Test("a null beside a freeze stops the clock at the machine's time, and beside a move counts from there")
    func releasedAndMore() async throws {
        let world = try await World()
        let frozen = try await world.control(.put, "clock", #"{"now":null,"freeze":true}"#)
        #expect(frozen.json["frozen"] == true)
        #expect(try #require(frozen.json["unix"]?.number?.double) != 1_800_000_000)
        let moved = try await world.control(.put, "clock", #"{"now":null,"advance":"1h"}"#)
        #expect(moved.json["machine_time"] == false && moved.json["frozen"] == false)
    }

    @Test("a clock that is set and frozen in one call shows exactly that moment", arguments: 0..<50)
    func exact(_ attempt: Int) async throws {
        let answer = try await World(at: nil).control(.put, "clock", #"{"now":1800000000,"freeze":true}"#)
        #expect(answer.json["unix"] == 1_800_000_000)
    }

    @Test(
        "now, advance and freeze work together",
        arguments: [
            (#"{"now":1800000000,"advance":"1h","freeze":true}"#, "1800003600"),
            (#"{"now":"1800000000.5","freeze":true}"#, "1800000000.5"),
            (#"{"now":1.8e9,"freeze":true}"#, "1800000000"), (#"{"now":0,"advance":"250ms","freeze":true}"#, "0.25"),
            (#"{"now":100,"advance":"-100s","freeze":true}"#, "0"),
        ])
    func together(_ body: String, _ unix: String) async throws {
        #expect(try await World(at: nil).control(.put, "clock", body).json["unix"]?.text == unix)
    }

    @Test("a clock that runs into the end of the year 9999 stops there, and says so in the journal too")
    func end() async throws {
        let world = try await World(at: nil)
        let set = try await world.control(.put, "clock", #"{"now":"9999-12-31T23:59:59Z"}"#)
        for clock in [set, try await world.control(.get, "clock")] {
            #expect(clock.json["now"] == "9999-12-31T23:59:59.000Z")
            #expect(clock.json["frozen"] == false)
            #expect(clock.json["note"]?.string?.hasPrefix("The clock stands at 9999-12-31T23:59:59Z") == true)
        }
        // Routes of two vendors, with times in their answers and tokens.
        for path in ["/v2/credentials/ping", "/ims/v1/me"] {
            let answer = try await world.call(.get, path)
            #expect(answer.status < 500)
            #expect(answer.outcome(of: "clock") == .noted)
            #expect(answer.entry?.moment.rfc3339 == "9999-12-31T23:59:59.000Z")
        }
        try await world.control(.put, "clock", #"{"advance":"1ms"}"#).expectProblem(
            400, "invalid", "it can show the years 1970 to 9999; expected a duration from -253402300799s to 0s")
        let back = try await world.control(.put, "clock", #"{"advance":"-1h","freeze":true}"#)
        #expect(back.json["now"] == "9999-12-31T22:59:59.000Z")
        #expect(back.json["note"] == nil)
    }

    @Test(
        "what makes no sense is refused and changes nothing",
        arguments: [
            (#"{"now":"nan"}"#, "expected Unix seconds, an RFC 3339 time, or null"),
            (#"{"now":"yesterday"}"#, "RFC 3339"),
            (#"{"now":-1}"#, "RFC 3339"), (#"{"now":1e400}"#, "RFC 3339"),
            (#"{"now":"2027-02-30T00:00:00Z"}"#, "RFC 3339"), (#"{"advance":90}"#, "expected a duration"),
            (#"{"advance":"90"}"#, "“90s”, “31m” or “2h”"), (#"{"advance":"-100000d"}"#, "1970 to 9999"),
            (#"{"now":253402300799,"advance":"1s"}"#, "1970 to 9999"), (#"{"freeze":"yes"}"#, "expected true or false"),
            (#"{"frezze":true}"#, "did you mean “freeze”?"), (#"{"now":1,"now":2}"#, "occurs twice"),
        ])
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        try await world.control(.put, "clock", body).expectProblem(400, "invalid", message)
        #expect(try await world.control(.get, "clock").json["unix"] == 1_800_000_000)
    }
}
