import Emulation
import JSON
import Wire

/// Verifying that what should have happened did.
extension ControlAPI {
    static let verifyOperations: [ControlOperation] = [
        ControlOperation(
            "journal.verify", .post, "/journal/verify",
            "Counts the exchanges of some kind; where they are too few or too many, shows those that come closest.",
            query: [waitParameter], content: .required(NamedSchema.expectation.reference),
            gives: .json("The expectation holds.", .fulfilled),
            .init(.conflict, "The expectation does not hold.", NamedSchema.unfulfilled.reference),
            handler: verifyJournal)
    ]

    @Sendable static func verifyJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let expectation = try call.read(.object(call.object())) { (node) throws(FixtureProblem) in
            try JournalExpectation(node)
        }
        try checkNames(expectation.filter, call)
        let journal = call.sandbox.journal
        // Off the event loop: a journal may hold a thousand bodies to read.
        let wait = try wait(call) ?? .zero
        return .deferred {
            let entries = await journal.first(within: wait) {
                journal.entries()
            } where: {
                expectation.isReached(by: $0)
            }
            return answer(expectation.verdict(on: entries, masking: call.sandbox.redactor), call)
        }
    }

    private static func answer(_ verdict: JournalVerdict, _ call: ControlCall) -> Response {
        .json(verdict.json(routes: call.emulator.routes), status: verdict.isVerified ? .ok : .conflict)
    }
}
