public import Emulation

/// The repository's location, so that tests run from any working directory.
public enum Repository {
    /// The folder that holds `Package.swift`.
    public static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    /// The repository's fixtures.
    public static let fixtures = FixtureStore(layers: [root + "/Fixtures"])
}
