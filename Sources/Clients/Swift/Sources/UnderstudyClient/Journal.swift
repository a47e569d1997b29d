import Foundation

/// The calls of a sandbox, oldest first; control calls are not among them.
public struct Journal: Sendable {
    let sandbox: Sandbox

    /// The entries that a filter admits, all of them without one.
    ///
    /// - Parameters:
    ///   - route: A route's id, or a pattern such as `addressbook.*`.
    ///   - status: A status code, or a class such as `4xx`.
    ///   - since: The moment by the sandbox's clock.
    ///   - after: The number of an entry.
    public func entries(
        vendor: String? = nil, route: String? = nil, status: String? = nil, failure: String? = nil,
        since: Date? = nil, after: Int? = nil, unmatched: Bool? = nil, refused: Bool? = nil, last: Int? = nil
    ) async throws -> [JournalEntry] {
        try await list([
            "vendor": vendor, "route": route, "status": status, "failure": failure,
            "since": since?.timeIntervalSince1970, "after": after, "unmatched": unmatched, "refused": refused,
            "last": last,
        ])
    }

    /// Waits until that many such entries exist, a minute at most; returns those that exist then.
    public func wait(
        for count: Int = 1, within duration: Duration, vendor: String? = nil, route: String? = nil,
        status: String? = nil, failure: String? = nil, after: Int? = nil, refused: Bool? = nil
    ) async throws -> [JournalEntry] {
        try await list([
            "vendor": vendor, "route": route, "status": status, "failure": failure, "after": after,
            "refused": refused, "wait": duration.wire, "count": count,
        ])
    }

    /// The newest entry.
    public func last() async throws -> JournalEntry? { try await entries(last: 1).last }

    /// The entry of that number.
    public func entry(_ id: Int) async throws -> JournalEntry {
        try JournalEntry(await sandbox.control("GET", "journal/\(id)"))
    }

    /// Those that were refused.
    public func refusals() async throws -> [JournalEntry] { try await entries(refused: true) }

    /// Forgets all entries.
    public func clear() async throws { try await sandbox.control("DELETE", "journal") }

    /// The newest calls in words, each refusal with the rules that it broke and the reason.
    public func describe(last: Int = 20) async throws -> String {
        let entries = try await entries(last: last)
        guard !entries.isEmpty else { return "Sandbox \(sandbox.name) was not called." }
        return (["Sandbox \(sandbox.name), newest last:"] + entries.map { $0.describe() }).joined(separator: "\n")
    }

    private func list(
        _ query: KeyValuePairs<String, (any LosslessStringConvertible)?>
    ) async throws -> [JournalEntry] {
        let given = query.compactMap { name, value in value.map { "\(name)=\(Transport.part($0))" } }
        return try await sandbox.control("GET", "journal?\(given.joined(separator: "&"))").member("entries", \.array)
            .map(JournalEntry.init)
    }
}

/// A call in the journal, and why it came out as it did.
public struct JournalEntry: Sendable, Hashable {
    /// Its number in the sandbox.
    public let id: Int
    /// The status code of the answer.
    public let status: Int
    /// All that the server shows of it, such as `json["request"]?["headers"]`.
    public let json: JSONValue

    init(_ json: JSONValue) throws {
        self.json = json
        id = try json.member("id", \.int)
        status = try json.member("status", \.int)
    }

    /// The vendor; `nil` when nobody owns the path.
    public var vendor: String? { json["vendor"]?.string }
    /// The route's id; `nil` when there is none at the path.
    public var route: String? { json["route"]?.string }
    /// The failure's name; `nil` when the call succeeded.
    public var failure: String? { json["failure"]?.string }
    /// What led to the failure, in one line.
    public var reason: String? { json["reason"]?.string }
    /// The remark on an accepted call, in one line.
    public var note: String? { json["note"]?.string }
    /// Whether the call was refused.
    public var isRefused: Bool { failure != nil }

    /// All rules that the call broke, not only the one that decided its answer: each with its `check`, what was
    /// `expected` and `found`, a `note` and its `source`.
    public var failedChecks: [JSONValue] {
        (json["findings"]?.array ?? []).filter { $0["outcome"] == "failed" }
    }

    /// The entry in words: the call, its status, the rules that it broke, and the reason.
    public func describe() -> String {
        let place = [vendor, route].compactMap { $0 }.joined(separator: ", ")
        let request = json["request"] ?? .null
        var lines = [
            "#\(id) \(request.text("method")) \(request.text("target")) (\(place.isEmpty ? "no vendor" : place))",
            "   answered \(status)" + (failure.map { ": \($0)" } ?? ""),
        ]
        let failed = failedChecks.map { $0.text("check") }
        if !failed.isEmpty {
            lines.append("   failed \(failed.count == 1 ? "rule" : "rules"): \(failed.joined(separator: ", "))")
        }
        if let reason { lines.append("   reason: \(reason)") }
        if let routes = json["nearest_routes"]?.array, !routes.isEmpty {
            lines.append("   nearest routes: \(routes.map(\.description).joined(separator: "; "))")
        }
        if let intervention = json["intervention"] {
            let steps = (intervention.array ?? [intervention]).map(\.description)
            lines.append("   intervention: \(steps.joined(separator: "; "))")
        }
        return lines.joined(separator: "\n")
    }
}
