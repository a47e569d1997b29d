internal import HTTPTypes
import Synchronization

/// Knows all routes, to tell somebody whose path found none which one was meant; asked only when somebody reads that.
public final class RouteGuide: Sendable {
    private struct Question: Hashable {
        let method: HTTPRequest.Method
        let path: String
    }

    /// A journal is full of the same few lost calls, and each answer looks at every route.
    private static let mostKept = 256
    private static let longestKept = 256

    private let table: RouteTable
    private let answers = Mutex<[Question: RouteTable.Neighbour?]>([:])

    /// A guide over the routes of all vendors.
    public init(_ table: RouteTable) {
        self.table = table
    }

    /// The route that was meant; `nil` when none comes close.
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
