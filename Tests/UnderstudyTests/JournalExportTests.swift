import Contracts
import Emulation
import HTTPTypes
import JSON
import Support
import Testing

@testable import Understudy

/// The journal in formats of other tools.
@Suite("Control: the journal as HAR and as contract cases")
struct JournalExportTests {
    private static let key = ("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")
    private static let book = "/api/v1/partner/317/customer/entity123/addressbook"

    private func call(_ world: World, _ order: String = "{}") async throws {
        let token = try await world.control(.post, "tokens/rezolve/login", order).json["token"]?.string ?? ""
        let device = ("x-rezolve-device-id", "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a")
        _ = try await world.call(
            .get, Self.book + "?a=b%20c", [Self.key, device, ("authorization", "Bearer \(token)")])
    }

    @Test("in brief it has what a list shows, and the newest number")
    func brief() async throws {
        let world = try await World()
        try await call(world, #"{"defect": "expired"}"#)
        _ = try await world.call(.get, "/nowhere")
        let journal = try await world.control(.get, "journal?format=brief&last=1").json
        #expect(journal["newest"] == 2)
        #expect(journal["entries"]?.array?.count == 1)
        #expect(journal["entries"]?[0]?["nearest_routes"]?.array?.isEmpty == false)
        let entry = try await world.control(.get, "journal/1?format=brief").json
        #expect(entry["failure"] == "token-expired")
        #expect(entry["target"] == .string(Self.book + "?a=b%20c"))
        #expect(entry["findings"] == nil && entry["request"] == nil)
    }

    @Test("the newest number is never ahead of the entries it comes with")
    func newest() async throws {
        let world = try await World()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 1...200 { _ = try await world.call(.get, "/nowhere") } }
            for _ in 1...200 {
                let answer = try await world.control(.get, "journal?format=brief&last=1").json
                let last = answer["entries"]?.array?.last?["id"]?.int ?? 0
                #expect(last >= answer["newest"]?.int ?? .max)
            }
            try await group.waitForAll()
        }
    }

    @Test("as HAR it has what version 1.2 asks for, and no signature")
    func har() async throws {
        let world = try await World()
        try await call(world)
        _ = try await world.call(.post, "/v2/credentials/logi", [Self.key], #"{"username":"u","password":"hidden"}"#)
        let answer = try await world.control(.get, "journal?format=har")
        let log = answer.json["log"]
        #expect(log?["version"] == "1.2")
        let entry = log?["entries"]?[0]
        for name in ["startedDateTime", "time", "request", "response", "cache", "timings"] {
            #expect(entry?[name] != nil, "\(name)")
        }
        for name in ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"] {
            #expect(entry?["request"]?[name] != nil, "\(name)")
        }
        for name in ["status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL"] {
            #expect(entry?["response"]?[name] != nil, "\(name)")
        }
        #expect(entry?["request"]?["queryString"]?[0]?["value"] == "b c")
        #expect(answer.text.contains(".***") && !answer.text.contains("hidden"))
        #expect(log?["entries"]?[1]?["request"]?["postData"]?["text"]?.string?.contains("***") == true)
    }

    @Test(
        "as HAR a request has the content that came, or says why not",
        arguments: [
            (#""@/etc/hostname""#, nil as Int?, #""@/etc/hostname""#, nil as String?), ("7", nil, "7", nil),
            (#"{ "big": 12345678901234567890, "exact": 1.0 }"#, nil, #"{"big":12345678901234567890,"exact":1.0}"#, nil),
            (#"{"cut": "o"#, 10, "", "10 bytes"), (#"{"cut": "o"#, nil, "", "10 bytes"),
            (#""(10 bytes)""#, 12, #""(10 bytes)""#, nil), (#""\u0061""#, 8, #""a""#, nil),
        ])
    func content(sent: String, length: Int?, shown: String, lack: String?) async throws {
        let world = try await World()
        let length = length.map { [("content-length", "\($0)")] } ?? []
        _ = try await world.call(.post, "/nowhere", length, sent)
        let log = try await world.control(.get, "journal?format=har").json["log"]
        let content = log?["entries"]?[0]?["request"]?["postData"]
        #expect(content?["text"] == .string(shown))
        #expect(content?["comment"] == lack.map(JSON.string))
    }

    @Test(
        "a refused call is a case that is refused again for the same reason",
        arguments: [
            "expired", "not-yet-valid", "missing-exp", "missing-device_id", "wrong-alg", "alg-none", "wrong-secret",
            "tampered-payload", "bad-signature", "truncated-signature", "string-exp", "other-user",
        ])
    func refused(_ defect: String) async throws {
        let world = try await World()
        try await call(world, #"{"defect": "\#(defect)"}"#)
        let text = try await world.control(.get, "journal/1?format=hurl").text
        #expect(!text.contains("left out"), "\(text)")
        let again = try await World(at: nil)
        let result = try await run(text, in: again)
        #expect(result.hasPassed, "\(text)\n\(result.lines.joined(separator: "\n"))")
        let failures = [world, again].map { $0.sandbox.journal.entries().last?.record.failure }
        #expect(failures[0] == failures[1])
    }

    @Test("what a call holds besides tokens that the journal masks is not written")
    func secret() async throws {
        let world = try await World()
        _ = try await world.call(.post, "/v2/credentials/login", [Self.key], #"{"username":"u","password":"not this"}"#)
        let text = try await world.control(.get, "journal?format=hurl").text
        #expect(text.contains("left out") && text.contains("a secret that the journal masks"))
        #expect(!text.contains("not this"))
    }

    /// Files whose cases change only what vendor calls change.
    private static let files = ContractFile.all.filter { file in
        guard let bytes = try? Repository.fixtures.file(file.description).bytes else { return false }
        let source = String(decoding: bytes, as: UTF8.self)
        let changes = [
            "/settings", "/faults", "/scenarios", "/keys/", "_understudy/state", "DELETE {{base}}/_understudy",
        ]
        return !changes.contains { source.contains($0) }
    }

    @Test("the journal of a file of contract cases is a file that passes", arguments: files)
    func repeated(_ file: ContractFile) async throws {
        let world = try await World(at: nil)
        let first = await ContractRunner(isPreparation: ContractRun.steers) {
            (request) throws(ContractSendingProblem) in try await ContractRun.send(request, world)
        }.run(try file.read(), variables: ContractVariables(["base": .string("http://understudy/~\(world.name)")]))
        #expect(first.hasPassed)
        let text = try await world.control(.get, "journal?format=hurl").text
        let result = try await run(text, in: try await World(at: nil))
        #expect(result.hasPassed, "\(result.lines.joined(separator: "\n"))\n\(text)")
    }

    private func run(_ text: String, in world: World) async throws -> ContractResult {
        let file = try HurlFile(name: "export.hurl", bytes: Array(text.utf8))
        return await ContractRunner(isPreparation: ContractRun.steers) { (request) throws(ContractSendingProblem) in
            try await ContractRun.send(request, world)
        }.run(file, variables: ContractVariables(["base": .string("http://understudy/~\(world.name)")]))
    }
}
