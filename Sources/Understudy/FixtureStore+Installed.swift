package import Emulation
import Fixtures

extension FixtureStore {
    /// The folder of the installed fixtures; `nil` when it was not found beside the program.
    package static var installedFolder: String? {
        folder(
            among: FixtureResources.candidates, holding: Catalog.vendors.map { "\($0.identity.id)/failures.yaml" })
    }
}
