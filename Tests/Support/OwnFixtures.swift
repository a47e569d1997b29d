public import Emulation
import Foundation

/// A folder over the repository's fixtures that a test fills with changed copies of them.
public final class OwnFixtures: Sendable {
    private let folder: TemporaryFolder
    private let base: String

    /// A folder with nothing in it, over the repository's fixtures or those of another folder.
    public init(over base: String = Repository.root + "/Fixtures") throws {
        folder = try TemporaryFolder()
        self.base = base
    }

    /// The folder.
    public var path: String { folder.path }

    /// The folder over the fixtures, to be read anew.
    public var store: FixtureStore { FixtureStore(layers: [folder.path, base]) }

    /// The text of a fixture as it is below the folder.
    public func text(_ name: String) throws -> String { try String(contentsOfFile: "\(base)/\(name)", encoding: .utf8) }

    /// Puts a copy of a fixture there, every `old` in it replaced by the `new` beside it.
    public func put(_ name: String, _ changes: [(old: String, new: String)]) throws {
        try folder.write(changes.reduce(try text(name)) { $0.replacing($1.old, with: $1.new) }, to: name)
    }

    /// Writes a text to a file there.
    public func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }

    /// Removes a file there.
    public func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)") }
}
