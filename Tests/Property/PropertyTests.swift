import Foundation
import Testing

@Suite("Export and import")
struct PropertyTests {
    private static func setting(_ name: String, or standard: Int) -> Int {
        ProcessInfo.processInfo.environment["UNDERSTUDY_PROPERTY_" + name].flatMap { Int($0) } ?? standard
    }

    @Test("are an identity after any course of calls, actions, clocks, settings and imports")
    func identity() async throws {
        let property = try Property()
        let first = UInt64(Self.setting("SEED", or: 1))
        let (least, seconds) = (UInt64(Self.setting("COURSES", or: 20)), Self.setting("SECONDS", or: 0))
        let most = Self.setting("FAILURES", or: 1)
        let deadline = ContinuousClock.now + .seconds(seconds)
        var (seed, failures) = (first, 0)
        while failures < most, seed < first + least || .now < deadline {
            if let failure = try await property.failure(seed: seed) {
                failures += 1
                Issue.record("\(failure)")
            }
            seed += 1
        }
        print("Tried \(seed - first) courses, from seed \(first) on.")
    }
}
