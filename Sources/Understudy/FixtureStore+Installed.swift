public import Emulation
import Fixtures

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension FixtureStore {
    /// The folder of the installed fixtures; `nil` when it was not found beside the program.
    public static var installedFolder: String? {
        FixtureResources.candidates.first { candidate in
            Catalog.vendors.allSatisfy {
                FileManager.default.fileExists(atPath: "\(candidate)/\($0.identity.id)/failures.yaml")
            }
        }
    }
}
