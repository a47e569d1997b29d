public import Emulation

/// Where the repository lies, so that tests run from any working directory.
public enum Repository {
    /// The folder that holds `Package.swift`.
    public static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    /// The fixtures as they stand in the repository.
    public static let fixtures = FixtureStore(layers: [root + "/Fixtures"])
}
