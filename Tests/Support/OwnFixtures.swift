public import Emulation
import Foundation

/// A folder over the repository's fixtures that a test fills with changed copies of them.
public final class OwnFixtures: Sendable {
    private let folder: TemporaryFolder

    /// A folder with nothing in it.
    public init() throws { folder = try TemporaryFolder() }

    /// The folder.
    public var path: String { folder.path }

    /// The folder over the repository's fixtures, to be read anew.
    public var store: FixtureStore { FixtureStore(layers: [folder.path, Repository.root + "/Fixtures"]) }

    /// Puts a copy of a fixture there, every `old` in it replaced by the `new` beside it.
    public func put(_ name: String, _ changes: [(old: String, new: String)]) throws {
        let text = try String(contentsOfFile: "\(Repository.root)/Fixtures/\(name)", encoding: .utf8)
        try folder.write(changes.reduce(text) { $0.replacing($1.old, with: $1.new) }, to: name)
    }

    /// Writes a text to a file there.
    public func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }

    /// Removes a file there.
    public func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)") }
}
