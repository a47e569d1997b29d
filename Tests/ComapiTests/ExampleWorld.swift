import Expectations
import JSON
import Support
import Testing
import Tokens
import Wire

enum Example {
    /// 2027-01-01T00:00:00Z, the time of the spec's examples.
    static let moment = 1_798_761_600
    static let a = "b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
    static let b = "2c9e7a64-1d3b-4f80-a6c5-7b0d4e8f9a21"
    static let c = "77d05e19-8b2a-4c63-b1f4-3a9c0d6e5f08"
    static let secretA = "understudy-test-shared-secret-A"

    static let unauthorized = #"{"message":"Unauthorized"}"#
    static let invalidJWT = #"{"message":"Invalid JWT"}"#
    static let notFound = #"{"message":"Not Found"}"#

    static func path(_ rest: String, in space: String = a) -> String { "/apispaces/\(space)\(rest)" }

    static func fault(_ name: String, _ message: String) -> String {
        #"{"validationFailures":[{"paramName":"\#(name)","message":"\#(message)"}]}"#
    }

    static let trip = #"{"id":"trip-42","participants":[{"id":"bob"}]}"#
    static let message = #"{"metadata":{"k":"v"},"parts":[{"name":"body","type":"text/plain","data":"Hi","size":2}]}"#
}

struct Challenge: Sendable {
    let id: String
    let nonce: String
}

struct Session: Sendable {
    let token: String
    let id: String
    let answer: ReceivedAnswer

    var fields: World.Fields { [("authorization", "Bearer " + token)] }
}

extension World {
    static func comapi(_ depth: Depth = .pipeline, on stage: Stage? = nil) async throws -> World {
        try await World(depth, on: stage, at: Example.moment)
    }

    func challenge(in space: String = Example.a) async throws -> Challenge {
        let answer = try await call(.get, Example.path("/sessions/start", in: space))
        answer.expect(200)
        return Challenge(
            id: try #require(answer.json["authenticationId"]?.string), nonce: try #require(answer.json["nonce"]?.string)
        )
    }

    func answer(
        _ challenge: Challenge, _ token: String, in space: String = Example.a, _ more: JSONObject = [:]
    ) async throws -> ReceivedAnswer {
        var body: JSONObject = ["authenticationId": .string(challenge.id), "authenticationToken": .string(token)]
        for member in more { body.append(member.name, member.value) }
        return try await call(.post, Example.path("/sessions", in: space), [], JSON.object(body).text)
    }

    func answer(
        in space: String = Example.a, secret: String = Example.secretA,
        header: String = #"{"alg":"HS256","typ":"JWT"}"#, _ claims: (Challenge) -> String
    ) async throws -> ReceivedAnswer {
        let challenge = try await challenge(in: space)
        return try await answer(
            challenge, Forged.token(secret: secret, header: header, claims: claims(challenge)), in: space)
    }

    func session(_ user: String = "mira", in space: String = Example.a, _ more: JSONObject = [:]) async throws
        -> Session
    {
        let challenge = try await challenge(in: space)
        let token = try await mint(
            "comapi/app",
            ["space": .string(space), "user": .string(user), "authenticationId": .string(challenge.id)])
        let answer = try await answer(challenge, token, in: space, more)
        answer.expect(200)
        return Session(
            token: try #require(answer.json["token"]?.string), id: try #require(answer.json["session"]?["id"]?.string),
            answer: answer)
    }

    /// Sessions of mira and bob, participants of the conversation trip-42.
    func trip() async throws -> (mira: Session, bob: Session) {
        let (mira, bob) = (try await session("mira"), try await session("bob"))
        try await call(.post, Example.path("/conversations"), mira.fields, Example.trip).expect(201)
        return (mira, bob)
    }
}

/// Tokens with freely chosen text, for what no minting call would make.
enum Forged {
    static func token(
        secret: String = Example.secretA, header: String = #"{"alg":"HS256","typ":"JWT"}"#, claims: String
    ) throws -> String {
        try signed(Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8)), secret: secret)
    }

    static func signed(_ input: String, secret: String = Example.secretA) throws -> String {
        let key = try SigningKey.secret(secret)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: .hs256))
    }

    /// Stands for the nonce of a challenge that is not there yet.
    static let nonce = "NONCE"

    /// Mira's claims for a challenge of space A; each parameter is JSON text, and `nil` omits the member.
    static func claims(
        nonce: String? = Forged.nonce, user: String? = #""mira""#,
        issuer: String? = #""https://api.comapi.com/defaultauth""#, audience: String? = #""https://api.comapi.com""#,
        issued: String? = "1798761600", expires: String? = "1798848000", more: [(String, String)] = []
    ) -> String {
        let members = [
            ("sub", user), ("nonce", nonce), ("aud", audience), ("iss", issuer), ("iat", issued), ("exp", expires),
        ]
        let texts = members.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }
        return "{" + (texts + more.map { #""\#($0.0)":\#($0.1)"# }).joined(separator: ",") + "}"
    }
}

extension Challenge {
    var json: String { #""\#(nonce)""# }
}

extension ReceivedAnswer {
    func isNoted(_ name: String) -> Bool { findings.contains { $0.check == name && $0.outcome == .noted } }
}

extension LiveSocket {
    /// How the socket closes, ignoring everything before.
    var closure: WebSocketClosure? {
        get async {
            while true {
                switch await next() {
                case .closed(let closure): return closure
                case .text, .binary, .pong: continue
                }
            }
        }
    }

    /// The next message as JSON; `null` for other messages and at the end.
    func frame() async -> JSON {
        guard case .text(let text) = await next() else { return .null }
        return (try? JSON.parse(text.utf8)) ?? .null
    }

    func frames(_ count: Int) async -> [JSON] {
        var frames: [JSON] = []
        while frames.count < count { frames.append(await frame()) }
        return frames
    }
}

extension World {
    func socket(_ session: Session) async throws -> LiveSocket {
        let socket = try await openSocket(Example.path("/socket?token=\(session.token)"))
        let greeting = await socket.frame()
        expect(greeting["name"], is: "socket.info")
        return socket
    }
}

extension LiveSocket.Event {
    func isClosed(with code: WebSocketClosure.Code) -> Bool {
        if case .closed(let closure) = self { closure.code == code } else { false }
    }
}
