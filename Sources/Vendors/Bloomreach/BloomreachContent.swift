import Emulation

/// The content that the fixtures give: messages, blocks, consents, segments, recommendations.
struct BloomreachContent: Sendable {
    /// Reads the content files.
    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {}
}
