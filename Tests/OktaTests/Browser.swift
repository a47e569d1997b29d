import Expectations
import Foundation
import HTTPTypes
import JSON
import Support
import Testing
import Tokens

/// A browser in a sandbox: it keeps cookies and follows nothing by itself.
struct Browser {
    static let json = ("Accept", "application/json")

    let world: World
    private(set) var cookies: [String: String] = [:]

    init(_ world: World) { self.world = world }

    mutating func get(_ target: String, _ fields: World.Fields = []) async throws -> ReceivedAnswer {
        take(try await world.call(.get, target, own + fields))
    }

    mutating func post(
        _ target: String, _ items: Parameters, _ fields: World.Fields = []
    ) async throws -> ReceivedAnswer {
        let type = ("Content-Type", "application/x-www-form-urlencoded")
        return take(try await world.call(.post, target, own + [type] + fields, items.text))
    }

    private var own: World.Fields {
        let text = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        return text.isEmpty ? [] : [("Cookie", text)]
    }

    private mutating func take(_ answer: ReceivedAnswer) -> ReceivedAnswer {
        for field in answer.fields where field.name.lowercased() == "set-cookie" {
            let parts = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            cookies[String(parts[0])] = field.value.contains("Max-Age=0") ? nil : parts.last.map(String.init)
        }
        return answer
    }
}

extension ReceivedAnswer {
    /// Expects that the client gets a code.
    ///
    /// - Returns: the code.
    @discardableResult
    func expectCode(sourceLocation: SourceLocation = #_sourceLocation) -> String {
        expect(302, "", sourceLocation: sourceLocation)
        let (location, start) = (self["location"] ?? "", Example.callback + "?code=")
        let code = location.dropFirst(start.count).prefix { $0 != "&" }
        #expect(location == "\(start)\(code)&state=s1" && code.count == 43, sourceLocation: sourceLocation)
        #expect(self["referrer-policy"] == "no-referrer", sourceLocation: sourceLocation)
        return String(code)
    }

    /// Expects a refusal that is told to the client, and its reason.
    func expectRedirect(
        _ query: String, _ failure: String, because reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(302, "", failure, sourceLocation: sourceLocation)
        #expect(self["location"] == "\(Example.callback)?\(query)", sourceLocation: sourceLocation)
        #expect(why.contains(reason), "\(why)", sourceLocation: sourceLocation)
    }

    /// Expects a page about a refusal, and its reason.
    func expectPage(
        _ status: Int, _ failure: String, _ text: String, because reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status && self.failure == failure, "\(self.text)", sourceLocation: sourceLocation)
        #expect(self["location"] == nil, sourceLocation: sourceLocation)
        let escaped = text.replacingOccurrences(of: "'", with: "&#39;")
        let alert = "<p role=\"alert\" class=\"alert\" data-failure=\"\(failure)\">\(escaped)</p>"
        #expect(self.text.contains(alert), "\(self.text)", sourceLocation: sourceLocation)
        #expect(why.contains(reason), "\(why)", sourceLocation: sourceLocation)
    }
}

extension World {
    /// A code of the client `bank`, which need not push its request here.
    func bankCode() async throws -> String {
        try await set("okta.par-required", "never")
        let scopes = "openid profile offline_access"
        return try await code(.authorizing(Example.bank, "http://localhost:3000/bank", scope: scopes).withoutPKCE)
    }

    func redeem(_ code: String, _ proof: Proof? = nil, assertion: String? = nil) async throws -> ReceivedAnswer {
        try await redeem(code, line: try proof?.text, assertion: assertion)
    }

    func redeem(_ code: String, line: String?, assertion: String? = nil) async throws -> ReceivedAnswer {
        let items: Parameters = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", "http://localhost:3000/bank"),
            ("client_id", Example.bank),
        ]
        let assertion = try assertion ?? Proof.assertion(at: Int(sandbox.now.unixSeconds))
        let fields = line.map { [("DPoP", $0)] } ?? []
        return try await token(items + .assertion(assertion), at: Example.custom, fields)
    }

    func nonce() async throws -> String {
        let now = Int(sandbox.now.unixSeconds)
        let answer = try await redeem("none", Proof(nonce: "none", at: now))
        return try #require(answer["dpop-nonce"], "\(answer.text)")
    }

    func bankToken() async throws -> String {
        let answer = try await redeem(try await bankCode(), Proof(nonce: try await nonce()))
        return try #require(answer.json["access_token"]?.string, "\(answer.text)")
    }

    func userinfo(_ scheme: String, _ token: String, _ proof: Proof?) async throws -> ReceivedAnswer {
        let fields = [("authorization", "\(scheme) \(token)")] + (try proof.map { [("DPoP", try $0.text)] } ?? [])
        return try await call(.get, Example.custom + "/userinfo", fields)
    }

    func redeemNative(_ fields: Fields = []) async throws -> ReceivedAnswer {
        try await token(.redeem(code()), at: Example.custom, fields)
    }
}

extension Proof {
    /// An assertion by which `bank` authenticates itself, once.
    static func assertion(at moment: Int = World.exampleMoment) throws -> String {
        try Assertion(id: UUID().uuidString).changed {
            ($0.claims["iss"], $0.claims["sub"]) = (.string(Example.bank), .string(Example.bank))
            ($0.claims["exp"], $0.claims["iat"]) = (JSON(moment + 300), JSON(moment))
        }.text
    }
}

extension World {
    func manage(_ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil) async throws -> ReceivedAnswer {
        let fields = World.Fields.apiToken
        guard let body else { return try await call(method, path, fields) }
        return try await call(method, path, fields + [("content-type", "application/json")], body.text)
    }

    @discardableResult
    func act(_ action: String, _ members: JSON = [:]) async throws -> JSON {
        let answer = try await control(.post, "state/okta/\(action)", members.text)
        expect(answer.status, is: 200, "\(answer.text)")
        return answer.json
    }

    func refusal(of action: String, _ members: JSON) async throws -> (code: String, message: String) {
        let answer = try await control(.post, "state/okta/\(action)", members.text)
        expect(answer.status, is: 400, "\(answer.text)")
        return (answer.json["error"]?["code"]?.string ?? "", answer.json["error"]?["message"]?.string ?? "")
    }
}

extension ReceivedAnswer {
    /// Expects a refusal as OAuth has it, with exactly its two members.
    func refuses(
        _ status: Int, error: String, _ text: String, _ failure: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let body = #"{"error":"\#(error)","error_description":"\#(text)"}"#
        expect(status, body, failure, sourceLocation: sourceLocation)
    }

    /// Expects a refusal of the management API with exactly its members.
    func refuses(
        _ status: Int, _ code: String, _ summary: String, causes: JSON = [], _ failure: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var causes = causes
        if failure == "body-invalid" {
            // Contract cases have the exact causes of each.
            let texts = json["errorCauses"]?.array?.compactMap { $0["errorSummary"]?.string } ?? []
            let member = summary.split(separator: " ").last ?? ""
            #expect(texts.first?.hasPrefix("\(member): The field ") == true, "\(texts)", sourceLocation: sourceLocation)
            causes = .array(texts.map { ["errorSummary": .string($0)] })
        }
        let id = json["errorId"]?.string ?? ""
        #expect(id.hasPrefix("oae") && id.utf8.count == 25, sourceLocation: sourceLocation)
        let body: JSON = [
            "errorCode": .string(code), "errorSummary": .string(summary), "errorLink": .string(code),
            "errorId": .string(id), "errorCauses": causes,
        ]
        expect(status, body.text, failure, sourceLocation: sourceLocation)
    }
}
