import Bloomreach
import Comapi
public import Emulation
import IMS
import Rezolve

/// The vendors that this build stands in for.
public enum Catalog {
    /// One line per vendor; nothing else outside the vendor's own folders names it.
    public static let vendors: [VendorLoader] = [
        .rezolve,
        .ims,
        .bloomreach,
        .comapi,
    ]
}
