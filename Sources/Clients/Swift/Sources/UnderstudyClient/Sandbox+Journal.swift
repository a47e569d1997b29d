import Foundation

extension Sandbox {
    /// The calls of a sandbox, oldest first; control calls are not among them.
    public struct Journal: Sendable {
        let control: Control
        let sandbox: String

        /// The entries that a filter admits, all of them without one.
        ///
        /// - Parameters:
        ///   - route: A route's id, or a pattern such as `addressbook.*`.
        ///   - status: A status code, or a class such as `4xx`.
        ///   - since: The moment by the sandbox's clock.
        ///   - after: The number of an entry.
        public func entries(
            vendor: String? = nil, route: String? = nil, status: String? = nil, failure: String? = nil,
            since: Date? = nil, after: Int? = nil, unmatched: Bool? = nil, refused: Bool? = nil,
            kind: Control.JournalListKind? = nil, last: Int? = nil
        ) async throws -> [Control.JournalEntry] {
            try await control.journalList(
                vendor: vendor, route: route, status: status, failure: failure,
                since: since.map { String($0.timeIntervalSince1970) }, after: after, unmatched: unmatched,
                refused: refused, kind: kind, last: last, format: .json
            ).decoded(as: Control.Journal.self).entries
        }

        /// Waits until there are so many such entries, for a minute at most; returns those that are there then.
        public func wait(
            for count: Int = 1, within duration: Duration, vendor: String? = nil, route: String? = nil,
            status: String? = nil, failure: String? = nil, after: Int? = nil, refused: Bool? = nil
        ) async throws -> [Control.JournalEntry] {
            try await control.journalList(
                vendor: vendor, route: route, status: status, failure: failure, after: after, refused: refused,
                format: .json, wait: duration.wire, count: count
            ).decoded(as: Control.Journal.self).entries
        }

        /// The newest such entry.
        public func last(
            vendor: String? = nil, route: String? = nil, status: String? = nil, failure: String? = nil,
            refused: Bool? = nil
        ) async throws -> Control.JournalEntry? {
            try await entries(
                vendor: vendor, route: route, status: status, failure: failure, refused: refused, last: 1
            ).last
        }

        /// The entry of that number.
        public func entry(_ id: Int) async throws -> Control.JournalEntry {
            try await control.journalGet(id: id, format: .json).decoded(as: Control.JournalEntry.self)
        }

        /// Those that were refused.
        public func refusals() async throws -> [Control.JournalEntry] { try await entries(refused: true) }

        /// Forgets all entries.
        public func clear() async throws { try await control.journalClear() }

        /// An HTTP Archive for browsers' tools, Charles and Proxyman.
        public func har() async throws -> JSONValue { try await control.journalList(format: .har) }

        /// Contract cases that `understudy contract run` can run.
        public func hurl() async throws -> String { try await control.journalList(format: .hurl).description }

        /// The newest calls in words, each refusal with the rules that it broke and the reason.
        public func describe(last: Int = 20) async throws -> String {
            let entries = try await entries(last: last)
            guard !entries.isEmpty else { return "Sandbox \(sandbox) was not called." }
            return (["Sandbox \(sandbox), newest last:"] + entries.map { $0.describe() }).joined(separator: "\n")
        }
    }
}
