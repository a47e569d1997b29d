import Bloomreach
import Comapi
package import Emulation
import IMS
import Okta
import Rezolve

/// The vendors that this build stands in for.
package enum Catalog {
    /// One line per vendor; nothing else outside the vendor's own folders names it.
    package static let vendors: [VendorLoader] = [
        .rezolve,
        .ims,
        .bloomreach,
        .comapi,
        .okta,
    ]

    /// All that a server mounts; last, what has its routes from fixtures.
    package static let mounted = vendors + [.own]

    /// The clients by whose rules a token can be judged.
    package static let checkers: [TokenChecker] = vendors.flatMap(\.checkers)
}
