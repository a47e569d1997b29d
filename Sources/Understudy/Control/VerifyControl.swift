import Emulation
import JSON
import Wire

/// Verifying that what should have happened did.
extension ControlAPI {
    @Sendable static func verifyJournal(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let notes = call.emulator.vendors.flatMap(\.verifiableNotes)
        let expectation = try call.read(.object(call.object())) { (node) throws(FixtureProblem) in
            try JournalExpectation(node, notes: notes)
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
