import Mutations
import Testing

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite(.timeLimit(.minutes(15))) struct LoopPartsTests {
    @Test func `Timers come up in the order of their moments, and not before`() {
        var random = SeededGenerator(seed: 1)
        var timers = TimerHeap()
        let start = MonotonicTime.now
        for offset in (0..<200).shuffled(using: &random) {
            let moment = start + .milliseconds(offset)
            timers.insert(.init(moment: moment, descriptor: Int32(offset), connection: 0))
        }
        var order: [Int32] = []
        while let due = timers.takeDue(at: start + .milliseconds(99)) { order.append(due.descriptor) }
        #expect(order == Array(0..<100))
        #expect(timers.earliest == start + .milliseconds(100))
    }

    @Test(arguments: [(0, 0), (-5, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2)])
    func `The time to a moment is rounded up to milliseconds`(nanoseconds: Int, milliseconds: Int32) {
        let start = MonotonicTime.now
        #expect((start + .nanoseconds(nanoseconds)).milliseconds(since: start) == milliseconds)
    }

    @Test func `A time-out without end does not overflow`() {
        let start = MonotonicTime.now
        #expect((start + .seconds(Int64.max)).milliseconds(since: start) == .max)
    }

    @Test(arguments: [(SIGTERM, Signals.Termination.terminate), (SIGINT, .interrupt)])
    func `A blocked signal is waited for instead of ending the process`(
        signal: Int32, expected: Signals.Termination
    ) async throws {
        let received = try await onThread {
            Signals.blockTermination()
            // Only to this thread: other tests run in the same process.
            pthread_kill(pthread_self(), signal)
            return Signals.waitForTermination()
        }
        #expect(received == expected)
    }

    @Test func `Output lets go of what is sent, also when the client never quite catches up`() throws {
        let (server, client) = try connectedSockets(bufferSize: 16 * 1024)
        defer {
            server.close()
            client.close()
        }
        let transport = Transport(server)
        let portion = [UInt8](repeating: 1, count: 64 * 1024)
        var output = OutputBuffer()
        var received = 0
        var buffer = portion
        for _ in 0..<100 {
            output.bytes += portion
            // Bytes that the system does not accept must stay, so that the buffer never drains.
            while output.count > 4 * portion.count {
                _ = output.flush(to: transport)
                waitFor(client, [.reading])
                if case .moved(let count) = buffer.withUnsafeMutableBytes(client.read) { received += count }
            }
            #expect(output.bytes.count <= 16 * portion.count)
        }
        #expect(received > 80 * portion.count)
    }
}
