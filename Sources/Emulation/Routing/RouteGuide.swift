internal import HTTPTypes
import Synchronization

/// Suggests the intended route for a path that matched none; computed only on reading.
public final class RouteGuide: Sendable {
    private struct Question: Hashable {
        let method: HTTPRequest.Method
        let path: String
    }

    /// A journal repeats the same few lost calls, and each search visits every route.
    private static let mostKept = 256
    private static let longestKept = 256

    private let table: RouteTable
    private let answers = Mutex<[Question: RouteTable.Neighbour?]>([:])

    /// Creates a guide over the routes of all vendors.
    package init(_ table: RouteTable) {
        self.table = table
    }

    /// The intended route; `nil` when none comes close.
    func closest(to method: HTTPRequest.Method, _ path: Substring) -> RouteTable.Neighbour? {
        guard path.utf8.count <= Self.longestKept else { return table.closest(to: method, path) }
        let question = Question(method: method, path: String(path))
        if let known = answers.withLock({ $0[question] }) { return known }
        let answer = table.closest(to: method, path)
        answers.withLock { answers in
            if answers.count >= Self.mostKept { answers = [:] }
            answers[question] = .some(answer)
        }
        return answer
    }
}
