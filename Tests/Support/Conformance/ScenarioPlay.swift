import Emulation
import Testing

/// A shipped scenario, played by an app that does everything at once: it signs in again as soon as it is refused, and
/// repeats the call, while the clock stands still.
package struct ScenarioPlay: Sendable, CustomStringConvertible {
    let scenario: String
    let calls: Int
    let ending: String?
    let signIn: @Sendable (World) async throws -> String
    let call: @Sendable (World, String) async throws -> ReceivedAnswer

    /// A play of the scenario of that name.
    ///
    /// - Parameters:
    ///   - calls: how many calls the app makes, without those it repeats.
    ///   - ending: the failure in which the app ends; `nil` when each call gets through.
    ///   - signIn: makes what the app needs, and gives it a token.
    ///   - call: makes the call with that token.
    package init(
        _ scenario: String, calls: Int = 3, ending: String? = nil,
        signIn: @escaping @Sendable (World) async throws -> String = { _ in "" },
        call: @escaping @Sendable (World, String) async throws -> ReceivedAnswer
    ) {
        (self.scenario, self.calls, self.ending, self.signIn, self.call) = (scenario, calls, ending, signIn, call)
    }

    /// The scenario's name.
    package var description: String { scenario }
}

extension VendorConformance {
    /// Checks that the app gets through, or ends as it must.
    package func check(_ play: ScenarioPlay) async throws {
        let world = try await world()
        var token = try await play.signIn(world)
        try await world.control(.put, "scenarios", #"{"scenario":"\#(play.scenario)"}"#).expect(200)
        var story: [String] = []
        for number in 1...play.calls {
            var answer = try await play.call(world, token)
            for _ in 1...3 where answer.isRefusedOrLost {
                story.append("\(number): \(answer.status) \(answer.entry?.record.intervention ?? answer.failure ?? "")")
                if answer.status == 401 { token = try await play.signIn(world) }
                answer = try await play.call(world, token)
            }
            let isLast = number == play.calls
            if isLast || play.ending == nil {
                #expect(answer.failure == play.ending, "\(story) \(answer.entry?.explanation ?? "")")
            }
        }
        let isEffective = world.sandbox.journal.entries().contains { $0.record.isIntervened }
        #expect(isEffective, "\(play.scenario) did nothing")
    }

    /// Checks that each scenario has a play.
    package func checkPlayCoverage() throws {
        #expect(plays.map(\.scenario).sorted() == (try mounted().scenarios.map(\.name).sorted()))
    }
}

extension ReceivedAnswer {
    /// Whether an app would repeat the call.
    fileprivate var isRefusedOrLost: Bool {
        failure != nil || entry?.response.transmission.fault != nil
    }
}
