import Emulation
import JSON
import Synchronization
import Wire

/// The answer of `health`: that the server is well, which fixtures are in force, and how reloading them went.
///
/// It is built when something changes, since probes are far more frequent.
final class Reloads: Sendable {
    private struct Content {
        var isWatching = false
        var count = 0
        var latest: Moment?
        var problem: String?
        /// The parts of a state file that could not be read.
        var setAside: JSON = ["count": 0, "parts": []]
        /// The folder that keeps the sandboxes; `nil` if none does.
        var state: JSON?
        /// The replica's name; `nil` for a server alone.
        var replica: String?
        var loaded: LoadedVendors
        var response: Response
        /// Whether its secrets are hidden, such as one quoted in a problem with a fixture.
        var isMasked = false
    }

    private let content: Mutex<Content>

    init(_ loaded: LoadedVendors) {
        content = Mutex(Content(loaded: loaded, response: .empty()))
        change { _ in }
    }

    /// The answer to a probe, with secrets hidden once rather than for each probe, and not before the first one.
    func health(_ redactor: () -> Redactor) -> Response {
        content.withLock { content in
            if !content.isMasked {
                content.response = content.response.masked(by: redactor())
                content.isMasked = true
            }
            return content.response
        }
    }

    /// Why the current fixture files are not in force; `nil` when they are.
    var problem: String? { content.withLock { $0.problem } }

    /// Records that the files are being watched.
    func watch() { change { $0.isWatching = true } }

    /// Records that other vendors are in force.
    func succeed(with loaded: LoadedVendors, at moment: Moment) {
        change { content in
            content.loaded = loaded
            content.count += 1
            content.latest = moment
            content.problem = nil
        }
    }

    /// Records the parts of a state file that could not be read.
    func tell(setAside: JSON) { change { $0.setAside = setAside } }

    func tell(replica: String) { change { $0.replica = replica } }

    /// Records where sandboxes are kept, and why that does not succeed.
    func tell(state: JSON) { change { $0.state = state } }

    /// Records that the files match what is in force again.
    func clearProblem() { change { $0.problem = nil } }

    /// Records that the current fixture files cannot be used.
    func fail(_ problem: FixtureProblem) { change { $0.problem = problem.description } }

    private func change(_ change: (inout Content) -> Void) {
        content.withLock { content in
            change(&content)
            content.response = Self.response(content)
            content.isMasked = false
        }
    }

    private static func response(_ content: Content) -> Response {
        let vendors = content.loaded.vendors.map { vendor -> JSON in
            [
                "id": .string(vendor.identity.id), "title": .string(vendor.identity.title),
                "routes": JSON(vendor.routes.count), "failures": JSON(vendor.failureNames.count),
            ]
        }
        var health: JSONObject = [
            "status": "ok", "version": .string(Emulator.version), "vendors": .array(vendors),
            "fixtures": .string(content.loaded.fingerprint),
            "layers": .array(content.loaded.layers.map(\.json)),
            "reload": [
                "watching": .bool(content.isWatching), "count": JSON(content.count),
                "at": JSON(content.latest?.rfc3339), "problem": JSON(content.problem),
            ],
            "set_aside": content.setAside,
        ]
        health["state"] = content.state
        health["replica"] = content.replica.map(JSON.string)
        return .json(.object(health))
    }
}
