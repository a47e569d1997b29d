import Emulation
import Expectations
import Foundation
import HTTPTypes
import JSON
import Logging
import Support
import Synchronization
import Testing
import Tokens
import Understudy

/// Secrets sent to wrong places must not let readers of the server's output impersonate anyone.
@Suite("Secrets in wrong places") struct SecretPlaceTests {
    private let world: World
    private let lines = LogLines()

    init() async throws {
        let lines = lines
        let emulator = try Emulator(
            fixtures: Repository.fixtures, controlToken: Self.controlToken,
            logger: Logger(label: "test") { _ in lines })
        world = try await World(.pipeline, on: Stage(emulator), at: nil)
        try await control(.put, "clock", #"{"now":\#(World.exampleMoment),"freeze":true}"#)
    }

    private static let controlToken = "control-token-not-real-1"

    @discardableResult
    private func control(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") async throws
        -> ReceivedAnswer
    {
        try await world.control(method, path, body, fields: [("Authorization", "Bearer " + Self.controlToken)])
    }

    @Test("more than 400 secrets in wrong places appear in nothing that can be read") func places() async throws {
        let secrets = try await secrets()
        // Roughly every tenth call goes to a path no vendor owns.
        let targets = routes + (0..<12).map { _ in Target(method: .post, pattern: "/nobody/owns/{x}/this") }
        let sent = try await send(secrets, to: targets)
        #expect(sent > 400)
        #expect(sent > targets.count, "every route was called")
        var shown = try await shown()
        // Each echo reads the whole journal, so a short one has to do.
        try await control(.delete, "journal")
        _ = try await send(secrets.suffix(3), to: targets)
        shown += try await answers(to: secrets.flatMap(Self.echoes))
        expectNone(of: secrets, in: shown)
    }

    /// Sends each secret in every place, each time to another target; answers with how many calls that were.
    private func send(_ secrets: [Secret], to targets: [Target]) async throws -> Int {
        var sent = 0
        for secret in secrets {
            for place in SecretPlace.all {
                let target = targets[sent % targets.count]
                let content = place.content(secret)
                let path = target.path(place.parameter(secret)) + content.suffix
                _ = try await world.call(target.method, path, content.fields, content.body)
                sent += 1
            }
        }
        return sent
    }

    private struct Target {
        let method: HTTPRequest.Method
        let pattern: String

        func path(_ parameter: String) -> String {
            guard pattern.contains("{") else { return pattern + "/" + parameter }
            return pattern.split(separator: "/").map { "/" + ($0.hasPrefix("{") ? parameter : String($0)) }.joined()
        }
    }

    private var routes: [Target] {
        world.emulator.vendors.flatMap { $0.routes.flatMap(\.endpoints) }.map {
            Target(method: $0.method, pattern: $0.pattern)
        }
    }

    /// All secrets in the fixtures, and those that clients and the server create at run time.
    private func secrets() async throws -> [Secret] {
        let texts = world.emulator.vendors.flatMap { vendor in
            Set(vendor.secretTexts).map { Secret("a secret of \(vendor.identity.id)", $0) }
        }
        let folders = ["ims", "rezolve"].map { "\(Repository.root)/Fixtures/\($0)/keys" }
        let keys = try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted().prefix(2).map { "\(folder)/\($0)" }
        }.map(Secret.key)
        // A short word occurs in half of all texts; another test covers those.
        return texts.filter { $0.text.utf8.count >= 8 } + keys + (try await made())
            + [Secret("the control token", Self.controlToken)]
    }

    private func made() async throws -> [Secret] {
        var made: [Secret] = []
        for vendor in world.emulator.vendors {
            for kind in vendor.tokenKinds {
                let answer = try await control(.post, "tokens/\(vendor.identity.id)/\(kind.name)")
                guard let token = answer.json["token"]?.string else { continue }
                made.append(.token("a minted token \(kind.name)", token))
            }
        }
        #expect(made.count >= 4)
        for (index, password) in ["run-time password 1", #"pass"word\with/marks-é"#].enumerated() {
            let body: JSON = ["username": .string("u\(index)"), "password": .string(password)]
            try await world.call(.post, "/v2/credentials/register", [World.apiKey], body.text).expect(201)
            made.append(Secret("the password of u\(index)", password))
        }
        let user: JSON = ["tenant": "demo", "email": "new@example.test", "first_name": "New"]
        let enrolled = try await world.call(
            .post, "/ims/v1/users", [("x-ims-operator-key", "ims-operator-test-key")], user.text)
        made.append(
            Secret("an activation code", try #require(enrolled.json["activation_code"]?.string, "\(enrolled.text)")))
        return made
    }
}

// MARK: - Reading

extension SecretPlaceTests {
    /// All readable output of the sandbox and the server, each part after the name of its call.
    private func shown() async throws -> [UInt8] {
        var calls: [(HTTPRequest.Method, String, String)] = [
            "journal", "metrics", "sandboxes", "keys", "scenarios", "faults", "settings", "clock", "tokens", "actions",
            "health",
        ].map { (.get, $0, "") }
        calls += world.emulator.vendors.map { (.get, "state/\($0.identity.id)", "") }
        calls += world.sandbox.journal.entries().suffix(10).map { (.get, "journal/\($0.id)", "") }
        return lines.bytes + (try await answers(to: calls))
    }

    private func answers(to calls: [(HTTPRequest.Method, String, String)]) async throws -> [UInt8] {
        var shown: [UInt8] = []
        for (method, path, body) in calls {
            let name = path.prefix { $0 != "/" && $0 != "?" }
            shown += "\n\n\(method) \(name)\n".utf8
            shown += try await control(method, path, body).body
        }
        return shown
    }

    /// Calls whose answers repeat the input.
    private static func echoes(of secret: Secret) -> [(HTTPRequest.Method, String, String)] {
        let (text, segment) = (JSON.string(secret.text).text, Secret.percentEncoded(secret.text))
        return [
            (.post, "journal/verify", #"{"where":{"header":{"x-api-key":\#(text)},"method":"TRACE"}}"#),
            (.post, "journal/verify", #"{"where":{"body":{"name":\#(text)},"path":\#(text)}}"#),
            (.get, "journal?since=\(segment)", ""), (.get, "journal/\(segment)", ""), (.get, "state/\(segment)", ""),
            (.put, "settings", #"{"profile":\#(text)}"#), (.put, "settings", #"{\#(text):1}"#),
            (.put, "sandboxes/\(segment)", #"{"ttl":null}"#), (.put, "clock", #"{"now":\#(text)}"#),
            (.post, "tokens/explain", #"{"token":\#(text)}"#),
            (.post, "tokens/explain", #"{"token":"x","request":{"path":\#(text)}}"#),
            (.put, "faults", #"{"route":\#(text)}"#), (.put, "scenarios", #"{"scenario":\#(text)}"#),
            (.put, "faults", #"{"vendor":"ims","when":{"header":{"x-a":\#(text)}},"respond":{"body":\#(text)}}"#),
            (.get, "faults", ""),
        ]
    }

    /// One walk over what is shown: a search for each of two hundred forms would take half a minute.
    private func expectNone(of secrets: [Secret], in shown: [UInt8]) {
        var beginnings: [UInt64: [(secret: Secret, form: [UInt8])]] = [:]
        // Nearly every place is passed by a look into a list, without hashing.
        var endings = [Bool](repeating: false, count: 1 << 16)
        for secret in secrets {
            for form in secret.forms {
                #expect(form.count >= 8)
                let beginning = form.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
                beginnings[beginning, default: []].append((secret, form))
                endings[Int(beginning & 0xFFFF)] = true
            }
        }
        var window: UInt64 = 0
        for (place, byte) in shown.enumerated() {
            window = window << 8 | UInt64(byte)
            guard endings[Int(window & 0xFFFF)], place >= 7 else { continue }
            for (secret, form) in beginnings[window] ?? [] where shown[(place - 7)...].starts(with: form) {
                let around = shown[max(0, place - 600)..<min(shown.count, place + 120)]
                Issue.record(
                    """
                    \(secret.about) is shown (\(String(decoding: form, as: UTF8.self).prefix(60))): \
                    …\(String(decoding: around, as: UTF8.self))…
                    """)
            }
        }
    }
}

private final class LogLines: LogHandler, Sendable {
    private let text = Mutex<[UInt8]>([])

    var bytes: [UInt8] { text.withLock { $0 } }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .info }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        text.withLock { $0 += "\(event.message) \(fields)\n".utf8 }
    }
}

struct SecretPlace: Sendable {
    struct Content {
        var suffix = ""
        var fields: [(String, String)] = []
        var body = ""
    }

    let name: String
    var parameter: @Sendable (Secret) -> String = { _ in "x" }
    let content: @Sendable (Secret) -> Content

    init(_ name: String, _ content: @escaping @Sendable (Secret) -> Content) {
        (self.name, self.content) = (name, content)
    }

    private init(_ name: String, parameter: @escaping @Sendable (Secret) -> String) {
        self.init(name) { _ in Content() }
        self.parameter = parameter
    }

    private static func field(_ name: String, _ value: @escaping @Sendable (Secret) -> String) -> SecretPlace {
        SecretPlace("field \(name)") { Content(fields: [(name, value($0))]) }
    }

    private static func body(
        _ name: String, _ type: String, _ text: @escaping @Sendable (Secret) -> String
    ) -> SecretPlace {
        SecretPlace(name) { Content(fields: [("Content-Type", type)], body: text($0)) }
    }

    private static func quoted(_ text: String) -> String { JSON.string(text).text }
    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    private static func query(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    static let all: [SecretPlace] = [
        SecretPlace("path", parameter: { query($0.text) }),
        SecretPlace("path, all of it in escapes", parameter: { Secret.percentEncoded($0.text) }),
        SecretPlace("query") { Content(suffix: "?q=\(query($0.text))&b=1") },
        SecretPlace("name in the query") { Content(suffix: "?\(query($0.text))=1") },
        SecretPlace("item token of the query") { Content(suffix: "?token=\(query($0.text))") },
        SecretPlace("item password of the query") { Content(suffix: "?password=\(query($0.text))") },
        field("x-api-key") { $0.line }, field("x-rezolve-partner-apikey") { $0.line },
        field("x-ims-operator-key") { $0.line }, field("x-authorization") { "Bearer " + $0.line },
        field("Authorization") { "Basic " + base64("id:" + $0.line) },
        field("Sec-WebSocket-Protocol") { "access_token, " + $0.line },
        field("Referer") { "https://app.test/a?x=\(query($0.line))#b" }, field("Cookie") { "sid=" + $0.line },
        field("User-Agent") { "App/1.0 (\($0.line))" },
        body("a member", "application/json") { #"{"name":\#(quoted($0.text)),"b":1}"# },
        body("a member's name", "application/json") { #"{"a":[{\#(quoted($0.text)):1}]}"# },
        body("JSON in a string", "application/json") { #"{"a":\#(quoted(#"{"b":\#(quoted($0.text))}"#))}"# },
        body("the member certificate", "application/json") {
            #"{"keys":{"type":"pem-certificate","certificate":\#(quoted($0.text))}}"#
        },
        body("broken JSON", "application/json") { #"{"a":\#(quoted($0.text)),"# },
        body("a form", "application/x-www-form-urlencoded") { "a=1&b=\(query($0.text))" },
        body("multipart", "multipart/form-data; boundary=x") {
            "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\($0.text)\r\n--x--\r\n"
        },
        body("text", "text/plain") { "see \($0.text) there" },
    ]
}

struct Secret: Sendable {
    let about: String
    let text: String
    let core: String

    init(_ about: String, _ text: String, core: String? = nil) {
        (self.about, self.text, self.core) = (about, text, core ?? text)
    }

    /// A token, whose header and claims may be shown.
    static func token(_ about: String, _ text: String) -> Secret {
        Secret(about, text, core: text.split(separator: ".").last.map(String.init) ?? text)
    }

    static func key(_ path: String) throws -> Secret {
        let pem = try String(contentsOfFile: path, encoding: .utf8)
        let block = pem.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN") }.map(String.init)
        return Secret(path, block.joined(separator: "\n"), core: block[block.count / 2])
    }

    /// The forms in which it could appear: as it is, percent-encoded, and in base64 if the core is the whole text.
    var forms: [[UInt8]] {
        let base64 = Data(text.utf8).base64EncodedString()
        return [Array(core.utf8), Array(Self.percentEncoded(core).utf8)]
            + (core == text ? [Array(base64.utf8), Array(Base64URL.encode(Array(text.utf8)).utf8)] : [])
    }

    var line: String { text.replacing("\n", with: " ") }

    static func percentEncoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
}

/// Masks must not hide what the journal is for.
@Suite("What stays readable beside what is hidden") struct ReadableTests {
    @Test("header and claims of a token, ids, public keys and the reason stay") func stays() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login")
        let parts = token.split(separator: ".")
        let answer = try await world.call(
            .get, "/api/v1/partner/317/customer/entity456/addressbook?note=\(token)&next=1",
            [World.apiKey, ("Authorization", "Bearer \(token)"), ("Referer", "https://a.test/b")])
        expect(answer.status, is: 403)
        let (entry, masked) = (world.shown(answer.entry), "\(parts[0]).\(parts[1]).***")
        for shown in ["Bearer \(masked)", "note=\(masked)&next=1", World.apiKey.1, "https://a.test/b", "entity456"] {
            #expect(entry.contains(shown), "\(entry)")
        }
        expect(answer.entry?.explanation?.contains("entity456"), is: true)
        #expect(!entry.contains(parts[2]))
    }

    @Test("the token of a handshake is not shown at all, whatever becomes of the handshake", arguments: [true, false])
    func handshake(_ isGood: Bool) async throws {
        let world = try await World()
        let token = try await world.mint(isGood ? "comapi/session" : "rezolve/login")
        let space = "b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
        do {
            _ = try await world.openSocket("/apispaces/\(space)/socket?token=\(token)")
            #expect(isGood)
        } catch is SocketRefused {
            #expect(!isGood)
        }
        let shown = world.shown(world.sandbox.journal.last)
        #expect(shown.contains("/socket?token=***"))
        for part in token.split(separator: ".") { #expect(!shown.contains(part)) }
    }

    @Test("a secret that is a word is hidden where it is the whole value") func word() async throws {
        let world = try await World()
        let answer = try await world.call(
            .post, "/nobody/secret/secrets?a=secret&b=my%20secret", [("x-api-key", "secret"), ("x-note", "no secret")],
            #"{"secret_santa":false,"kind":"secret","about":"a secret place"}"#)
        let entry = world.shown(answer.entry)
        for shown in [
            "/nobody/***/secrets?a=***&b=my%20secret", #"["x-api-key","***"]"#, #"["x-note","no secret"]"#,
            #"{"secret_santa":false,"kind":"***","about":"a secret place"}"#,
        ] { #expect(entry.contains(shown), "\(entry)") }
    }

    @Test("what the control API shows of a state can be told from what it hides") func state() async throws {
        let world = try await World()
        let body = #"{"customer_ids":{"registered":"eva"},"properties":{"a":"ims-operator-test-key","b":"plain"}}"#
        try await world.call(
            .post, "/track/v2/projects/demo-project-1/customers", [("Authorization", "Token pubkey-demo-1")], body
        ).expect(200)
        let state = try await world.control(.get, "state/bloomreach").text
        #expect(state.contains(#""a":"***","b":"plain""#), "\(state)")
    }

    @Test("a password is secret from the moment on at which somebody has it, also after it was replaced")
    func learned() async throws {
        let world = try await World()
        let note = { try await world.call(.get, "/nobody?q=fresh-password-1") }
        #expect(world.shown(try await note().entry).contains("fresh-password-1"))
        _ = try await world.call(
            .post, "/v2/credentials/register", [World.apiKey], #"{"username":"eve","password":"fresh-password-1"}"#)
        #expect(!world.shown(try await note().entry).contains("fresh-password-1"))
        try await world.control(.put, "state/rezolve", #"{"customers":[],"users":[]}"#).expect(200)
        #expect(!world.shown(try await note().entry).contains("fresh-password-1"))
    }
}
