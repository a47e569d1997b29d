import Emulation
import JSON
import Synchronization
import Wire

/// What `health` says: that the server is well, by which fixtures it answers, and how reading them anew went.
///
/// The answer is made when something changes, since probes ask for it far more often.
final class Reloads: Sendable {
    private struct Content {
        var isWatching = false
        var count = 0
        var latest: Moment?
        var problem: String?
        /// What of a state file could not be read.
        var setAside: JSON = ["count": 0, "parts": []]
        var loaded: LoadedVendors
        var response: Response
        /// Whether its secrets are hidden, such as one that a problem with a fixture quotes.
        var isMasked = false
    }

    private let content: Mutex<Content>

    init(_ loaded: LoadedVendors) {
        content = Mutex(Content(loaded: loaded, response: .empty()))
        change { _ in }
    }

    /// The answer to a probe, its secrets hidden once and not for each probe; nothing is looked for before the first one.
    func health(_ redactor: () -> Redactor) -> Response {
        content.withLock { content in
            if !content.isMasked {
                content.response = content.response.masked(by: redactor())
                content.isMasked = true
            }
            return content.response
        }
    }

    /// Why the fixtures as they stand now are not in force; `nil` when they are.
    var problem: String? { content.withLock { $0.problem } }

    /// Notes that somebody looks after the files.
    func watch() { change { $0.isWatching = true } }

    /// Notes that other vendors are in force.
    func succeed(with loaded: LoadedVendors, at moment: Moment) {
        change { content in
            content.loaded = loaded
            content.count += 1
            content.latest = moment
            content.problem = nil
        }
    }

    /// Notes what of a state file could not be read.
    func tell(setAside: JSON) { change { $0.setAside = setAside } }

    /// Notes that the files hold again what is in force.
    func clearProblem() { change { $0.problem = nil } }

    /// Notes that the fixtures cannot be used as they stand now.
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
                "routes": JSON(vendor.routes.count), "failures": JSON(vendor.failures.count),
            ]
        }
        return .json([
            "status": "ok", "version": .string(Emulator.version), "vendors": .array(vendors),
            "fixtures": .string(content.loaded.fingerprint),
            "layers": .array(content.loaded.layers.map(\.json)),
            "reload": [
                "watching": .bool(content.isWatching), "count": JSON(content.count),
                "at": JSON(content.latest?.rfc3339), "problem": JSON(content.problem),
            ],
            "set_aside": content.setAside,
        ])
    }
}
