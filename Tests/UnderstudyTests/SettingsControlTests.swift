import JSON
import Support
import Testing

@Suite("Control: settings")
struct SettingsControlTests {
    @Test("shows every switch with its value, and changes what is named", arguments: Depth.allCases)
    func settings(_ depth: Depth) async throws {
        let world = try await World(depth)
        let first = try await world.control(.get, "settings")
        #expect(first.json["profile"] == "documented")
        #expect(first.json["seed"] == .null)
        let names = first.json["switches"]?.object?.map(\.name) ?? []
        #expect(
            names
                == world.emulator.vendors.flatMap { vendor in
                    vendor.switchDeclarations.map { "\(vendor.identity.id).\($0.name)" }
                })
        let changed = try await world.control(
            .put, "settings", #"{"profile":"observed","switches":{"rezolve.leeway-seconds":5},"seed":9}"#)
        #expect(changed.json["profile"] == "observed")
        #expect(changed.json["seed"] == 9)
        #expect(changed.json["switches"]?["rezolve.leeway-seconds"] == "5")
        #expect(changed.json["switches"]?["rezolve.device-check"] == "off")
        #expect(try await world.control(.get, "settings").text == changed.text)
        let restored = try await world.control(
            .put, "settings", #"{"profile":"documented","switches":{"rezolve.leeway-seconds":null},"seed":null}"#)
        #expect(restored.text == first.text)
    }

    @Test("a profile can be that of one vendor")
    func vendorProfile() async throws {
        let world = try await World()
        let answer = try await world.control(.put, "settings", #"{"profile":{"rezolve":"observed"}}"#)
        #expect(answer.json["profile"] == "documented")
        #expect(answer.json["vendor_profiles"] == ["rezolve": "observed"])
        #expect(answer.json["switches"]?["rezolve.device-check"] == "off")
        let all = try await world.control(.put, "settings", #"{"profile":"documented"}"#)
        #expect(all.json["vendor_profiles"] == [:])
    }

    @Test(
        "what makes no sense is refused and changes nothing",
        arguments: [
            (#"{"profile":"real"}"#, "expected “documented” or “observed”"),
            (#"{"profile":1}"#, "expected “documented”"),
            (#"{"profile":{"rezolv":"observed"}}"#, "did you mean “rezolve”?"),
            (#"{"profile":{"rezolv":null}}"#, "did you mean “rezolve”?"),
            (#"{"profile":{"rezolve":"x"}}"#, "expected “documented”"),
            (#"{"switches":{"rezolve.device-chek":"off"}}"#, "did you mean “rezolve.device-check”?"),
            (#"{"switches":{"rezolve.device-chek":null}}"#, "did you mean “rezolve.device-check”?"),
            (#"{"switches":{"device-check":"off"}}"#, "no switch is called device-check"),
            (#"{"switches":{"rezolve.device-check":"on"}}"#, "it can be enforce, off, if-present"),
            (#"{"switches":{"rezolve.leeway-seconds":-1}}"#, "a whole number from 0"),
            (#"{"switches":{"rezolve.device-check":false}}"#, "expected a string"),
            (#"{"switches":[]}"#, "expected an object"),
            (#"{"seed":-1}"#, "whole number from 0"), (#"{"seed":1.5}"#, "whole number from 0"),
            (#"{"seed":"7"}"#, "whole number"),
            (#"{"sead":7}"#, "did you mean “seed”?"),
        ])
    func refused(_ body: String, _ message: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "settings").text
        try await world.control(.put, "settings", body).expectProblem(400, "invalid", message)
        #expect(try await world.control(.get, "settings").text == before)
    }

    @Test("one wrong part takes the others back")
    func allOrNothing() async throws {
        let world = try await World()
        try await world.control(.put, "settings", #"{"profile":"observed","seed":"x"}"#)
            .expectProblem(400, "invalid", "seed")
        #expect(try await world.control(.get, "settings").json["profile"] == "documented")
    }
}
