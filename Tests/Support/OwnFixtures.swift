package import Emulation
import Foundation
package import Understudy

/// A folder of changed fixtures that override the repository's.
package final class OwnFixtures: Sendable {
    private let folder: TemporaryFolder
    private let base: String

    /// An empty folder over the repository's fixtures or those of another folder.
    package init(over base: String = Repository.root + "/Fixtures") throws {
        folder = try TemporaryFolder()
        self.base = base
    }

    /// The folder.
    package var path: String { folder.path }

    /// The folder over the fixtures, read anew.
    package var store: FixtureStore { FixtureStore(layers: [folder.path, base]) }

    /// An emulator of that vendor alone: the others take most of the time of a start.
    package func emulator(of vendor: String) throws(FixtureProblem) -> Emulator {
        try Emulator(fixtures: store, loaders: Catalog.vendors.filter { $0.identity.id == vendor })
    }

    /// The text of the original fixture.
    package func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(base)/\(name)", encoding: .utf8)
    }

    /// Adds a copy of a fixture in which every `old` is replaced by its `new`.
    package func put(_ name: String, _ changes: [(old: String, new: String)]) throws {
        try folder.write(changes.reduce(try text(name)) { $0.replacing($1.old, with: $1.new) }, to: name)
    }

    /// Writes a text to a file in the folder.
    package func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }

    /// Removes a file from the folder.
    package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)") }
}
