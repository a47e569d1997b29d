import Foundation
import JSON
import Support
import Testing

/// A browser in a sandbox: it keeps cookies and follows nothing by itself.
struct Browser {
    static let json = ("Accept", "application/json")
    static let html = ("Accept", "text/html")

    let world: World
    private(set) var cookies: [String: String] = [:]

    init(_ world: World) { self.world = world }

    mutating func get(_ target: String, _ fields: World.Fields = []) async throws -> ReceivedAnswer {
        take(try await world.call(.get, target, own + fields))
    }

    mutating func post(
        _ target: String, _ items: [(String, String)], _ fields: World.Fields = []
    ) async throws -> ReceivedAnswer {
        let type = ("Content-Type", "application/x-www-form-urlencoded")
        return take(try await world.call(.post, target, own + [type] + fields, Self.form(items)))
    }

    mutating func forget(_ cookie: String) { cookies[cookie] = nil }

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

    static func form(_ items: [(String, String)]) -> String {
        let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."\u{7F}"))
        return items.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
        }.joined(separator: "&")
    }
}

/// The members of an authorization request; tests change what they are about.
struct AuthorizeQuery {
    var items: [(String, String)]

    /// The request of the native app.
    static let auth = AuthorizeQuery(items: [
        ("client_id", Example.native), ("redirect_uri", "com.example.app:/callback"), ("response_type", "code"),
        ("scope", "openid profile offline_access"), ("state", "s1"), ("nonce", "n1"),
        ("code_challenge", Example.challenge), ("code_challenge_method", "S256"),
    ])

    static let bank = auth.with([("client_id", Example.bank), ("redirect_uri", "http://localhost:3000/bank")])
    static let spa = auth.with([
        ("client_id", Example.spa), ("redirect_uri", "http://localhost:3000/spa"), ("scope", "openid trips.share"),
    ])

    /// The same with other values; `nil` removes a member.
    func with(_ changes: [(String, String?)]) -> AuthorizeQuery {
        var query = self
        for (name, value) in changes {
            guard let value else {
                query.items.removeAll { $0.0 == name }
                continue
            }
            if let place = query.items.firstIndex(where: { $0.0 == name }) {
                query.items[place].1 = value
            } else {
                query.items.append((name, value))
            }
        }
        return query
    }

    func target(_ endpoints: String = Example.custom) -> String { "\(endpoints)/authorize?\(Browser.form(items))" }
}

extension ReceivedAnswer {
    /// Expects that the client gets a code.
    ///
    /// - Returns: the code.
    @discardableResult
    func expectCode(
        at redirectURI: String = "com.example.app:/callback", sourceLocation: SourceLocation = #_sourceLocation
    ) -> String {
        expect(302, "", sourceLocation: sourceLocation)
        let location = self["location"] ?? ""
        let code = location.dropFirst("\(redirectURI)?code=".count).prefix { $0 != "&" }
        #expect(location == "\(redirectURI)?code=\(code)&state=s1" && code.count == 43, sourceLocation: sourceLocation)
        #expect(self["referrer-policy"] == "no-referrer", sourceLocation: sourceLocation)
        return String(code)
    }

    /// Expects a refusal that is told to the client, and its reason.
    func expectRedirect(
        _ query: String, _ failure: String, at redirectURI: String = "com.example.app:/callback",
        because reason: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(302, "", failure, sourceLocation: sourceLocation)
        #expect(self["location"] == "\(redirectURI)?\(query)", sourceLocation: sourceLocation)
        #expect(self.reason?.contains(reason ?? "; ") == true, "\(self.reason ?? "")", sourceLocation: sourceLocation)
    }

    /// Expects a page about a refusal, and its reason.
    func expectPage(
        _ status: Int, _ failure: String, _ text: String, because reason: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status && self.failure == failure, "\(self.text)", sourceLocation: sourceLocation)
        #expect(self["location"] == nil, sourceLocation: sourceLocation)
        let escaped = text.replacingOccurrences(of: "'", with: "&#39;")
        let alert = "<p role=\"alert\" class=\"alert\" data-failure=\"\(failure)\">\(escaped)</p>"
        #expect(self.text.contains(alert), "\(self.text)", sourceLocation: sourceLocation)
        if let reason {
            #expect(self.reason?.contains(reason) == true, "\(self.reason ?? "")", sourceLocation: sourceLocation)
        }
    }
}
