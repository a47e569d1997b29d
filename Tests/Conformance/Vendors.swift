import BloomreachTests
import ComapiTests
import IMSTests
import RezolveTests
import Support
import UnderstudyTests

extension VendorConformance {
    /// The vendors that the kit is held against, a line each.
    static let vendors: [VendorConformance] = [
        bloomreach,
        comapi,
        ims,
        rezolve,
        notary,
        switchboard,
    ]
}
