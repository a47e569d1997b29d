import ArgumentParser
import Emulation

/// How many sandboxes `serve` keeps, for how long, and whether they are repeatable.
struct SandboxOptions: ParsableArguments {
    @Option(help: "The largest number of sandboxes (default: 20000); beyond it, the longest unused are removed.")
    var sandboxes: String?

    @Option(help: "How long a sandbox may be unused before it is removed, such as 2h (default: no limit).")
    var sandboxTtl: String?

    @Option(
        help:
            "A number that makes ids and times repeatable in every sandbox (default: none); it also freezes the clock.")
    var seed: String?

    func limits(_ sources: OptionSources) throws -> SandboxLimits {
        let capacity = try sources.value(
            "sandboxes", flag: sandboxes, default: SandboxLimits.standardCapacity,
            expected: "a number of sandboxes (from 1)", parse: { Int($0).flatMap { $0 > 0 ? $0 : nil } })
        let timeToLive = try sources.value(
            "sandbox-ttl", flag: sandboxTtl, default: Duration?.none, expected: "a duration such as 90s, 10m or 2h",
            parse: { Duration(text: $0).flatMap { $0 > .zero ? .some($0) : nil } })
        return SandboxLimits(capacity: capacity, timeToLive: timeToLive)
    }

    func seed(_ sources: OptionSources) throws -> UInt64? {
        try sources.value(
            "seed", flag: seed, default: UInt64?.none, expected: "a whole number from 0",
            parse: { Int($0).flatMap(UInt64.init(exactly:)).map { .some($0) } })
    }
}
