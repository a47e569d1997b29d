import BloomreachTests
import ComapiTests
import Foundation
import IMSTests
import OktaTests
import RezolveTests
import Support
import UnderstudyTests

extension VendorConformance {
    /// The vendors that the kit tests: all, or the one that the environment's `CONFORMING_VENDOR` names.
    static let vendors: [VendorConformance] = {
        guard let name = ProcessInfo.processInfo.environment["CONFORMING_VENDOR"] else { return all }
        let named = all.filter { $0.id == name }
        precondition(!named.isEmpty, "CONFORMING_VENDOR=\(name) is none of \(all.map(\.id))")
        return named
    }()

    private static let all: [VendorConformance] = [bloomreach, comapi, ims, okta, rezolve, notary, switchboard]
}
