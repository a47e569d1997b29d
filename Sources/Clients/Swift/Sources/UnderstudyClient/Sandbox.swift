import Foundation

/// A test's own world in a server: users, clock, settings, scenarios, faults, journal.
///
/// Give the app ``baseURL``; where it takes only a host, have it send ``headers``.
public struct Sandbox: Sendable {
    /// Its name.
    public let name: String
    /// The base URL for the app under test, such as `http://127.0.0.1:49213/~signup`; append the path.
    public let baseURL: URL
    /// Every operation of the control API, for what has no name here.
    public let control: Control
    /// Not of this sandbox: a call that selects it would bring it back.
    let others: Control

    static let field = "X-Understudy-Sandbox"

    /// The header that selects the sandbox where the path cannot.
    public var headers: [String: String] { [Self.field: name] }

    /// The time that it believes in.
    public var clock: Clock { Clock(control: control) }

    /// Its calls.
    public var journal: Journal { Journal(control: control, sandbox: name) }

    /// Makes the sandbox as it was at first.
    public func reset() async throws { try await control.reset() }

    /// Removes the sandbox with all it holds.
    public func delete() async throws {
        do {
            try await others.sandboxesDelete(name: name)
        } catch let refusal as Refusal where refusal.status == 404 {
            // Nobody has used it.
        }
    }
}
