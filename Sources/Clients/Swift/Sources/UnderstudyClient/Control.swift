import Foundation

/// All operations of the control API, for one sandbox.
///
/// Each has the name and the parameters that the server's OpenAPI document gives it, and a type for each schema. What has
/// several forms is a ``JSONValue``. An operation throws a ``Refusal`` with the server's words, or ``Unreachable``.
public struct Control: Sendable {
    let transport: Transport
    /// The sandbox that calls select; `nil` for the one that requests without a name share.
    let sandbox: String?

    /// Makes a call and reads its answer.
    ///
    /// - Parameter expected: The statuses of answers that are no refusals.
    func send<Answer: Decodable>(
        _ method: String, _ path: String, query: KeyValuePairs<String, (any LosslessStringConvertible)?> = [:],
        body: (any Encodable)? = nil, expected: Set<Int>
    ) async throws -> Answer {
        let target = path + written(query)
        let answer = try await transport.send(method, target, sandbox: sandbox, body: body)
        guard expected.contains(answer.status) else { throw transport.refusal("\(method) \(target)", answer) }
        return try transport.content("\(method) \(target)", answer)
    }

    /// Makes a call whose answer has no content.
    func send(_ method: String, _ path: String, expected: Set<Int>) async throws {
        let answer = try await transport.send(method, path, sandbox: sandbox, body: nil)
        guard expected.contains(answer.status) else { throw transport.refusal("\(method) \(path)", answer) }
    }

    /// The query with its question mark; what is `nil` is left out.
    private func written(_ query: KeyValuePairs<String, (any LosslessStringConvertible)?>) -> String {
        let given = query.compactMap { name, value in value.map { "\(name)=\(part($0))" } }
        return given.isEmpty ? "" : "?" + given.joined(separator: "&")
    }

    /// A part of a path or query.
    func part(_ value: any LosslessStringConvertible) -> String {
        let text = String(describing: value)
        return text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? text
    }

    /// The characters that mean themselves everywhere in a URL (RFC 3986 section 2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
