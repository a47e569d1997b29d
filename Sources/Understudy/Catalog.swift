import Bloomreach
import Comapi
public import Emulation
import IMS
import Rezolve

/// The vendors that this build stands in for.
public enum Catalog {
    /// One line a vendor; outside of its own folders nothing else names it.
    public static let vendors: [VendorLoader] = [
        .rezolve,
        .ims,
        .bloomreach,
        .comapi,
    ]
}
