import Foundation
import HTTPTypes
import JSON

/// A place in a request where a client may put a secret by mistake.
struct SecretPlace: Sendable {
    /// The content sent to a path.
    struct Content {
        var suffix = ""
        var fields: [(String, String)] = []
        var body = ""
    }

    let name: String
    /// The path segment in place of a parameter.
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
