package import Emulation

/// The repository's location, so that tests run from any working directory.
package enum Repository {
    /// The folder that holds `Package.swift`.
    package static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    package static let fixtures = FixtureStore(layers: [root + "/Fixtures"])
}
