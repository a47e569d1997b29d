/// How many durations fell into each bucket, and their sum.
struct DurationHistogram: Sendable {
    /// The upper bounds of the buckets: from what the machine takes by itself to what people wait for.
    static let bounds: [(nanoseconds: Int, seconds: String)] = [
        (50_000, "0.00005"), (100_000, "0.0001"), (250_000, "0.00025"), (500_000, "0.0005"), (1_000_000, "0.001"),
        (2_500_000, "0.0025"), (5_000_000, "0.005"), (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"),
        (100_000_000, "0.1"), (250_000_000, "0.25"), (500_000_000, "0.5"), (1_000_000_000, "1"),
        (2_500_000_000, "2.5"), (5_000_000_000, "5"), (10_000_000_000, "10"),
    ]

    /// By bucket, the last one without a bound.
    private var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var nanoseconds = 0

    mutating func record(_ nanoseconds: Int) {
        // Nearly all are short, so the search begins there.
        counts[Self.bounds.firstIndex { nanoseconds <= $0.nanoseconds } ?? Self.bounds.count] += 1
        self.nanoseconds += nanoseconds
    }

    mutating func add(_ other: DurationHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        nanoseconds += other.nanoseconds
    }

    var count: Int { counts.reduce(0, +) }

    /// How many durations were at most each bound, including `+Inf`.
    var cumulative: [(bound: String, count: Int)] {
        var sum = 0
        return zip(Self.bounds.map(\.seconds) + ["+Inf"], counts).map { bound, count in
            sum += count
            return (bound, sum)
        }
    }
}
