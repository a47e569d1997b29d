import Emulation
import Understudy

/// Where the clients for test suites are: they are on no registry, so a test depends on a folder.
struct ClientSources {
    /// The folder, from the root of the file system.
    let folder: String

    /// Finds the clients in the named folder, else in the checkout or the installation that the program is from.
    init(_ named: String?, for language: StarterLanguage) throws(Misuse) {
        let candidates = named.map { [$0] } ?? Self.candidates
        let found = candidates.first { FileSystem.isFolder("\($0)/\(language.clientFolder)") }
        guard let found, let real = FileSystem.realPath(found) else {
            if let named {
                throw Misuse(
                    "--clients \(named) has no folder \(language.clientFolder); expected Sources/Clients of a checkout."
                )
            }
            throw Misuse(
                "the client for \(language.rawValue) was not found near the program; name the folder Sources/Clients of a checkout with --clients."
            )
        }
        folder = real
    }

    /// The folders above the installed fixtures may be a checkout, or an installation.
    private static var candidates: [String] {
        guard let installed = FixtureStore.installedFolder, let real = FileSystem.realPath(installed) else { return [] }
        let parts = real.split(separator: "/")
        return parts.indices.reversed().flatMap { count in
            let folder = "/" + parts[..<count].joined(separator: "/")
            return ["\(folder)/Sources/Clients", "\(folder)/Clients"]
        }
    }
}
