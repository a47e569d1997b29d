import BloomreachTests
import ComapiTests
import IMSTests
import RezolveTests
import Support
import UnderstudyTests

extension VendorConformance {
    /// The vendors that the kit tests, one per line.
    static let vendors: [VendorConformance] = [
        bloomreach,
        comapi,
        ims,
        rezolve,
        notary,
        switchboard,
    ]
}
