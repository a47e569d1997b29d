import AddressApp
import UnderstudyTesting
import XCTest

/// The same tests in XCTest.
final class ClassicTests: XCTestCase {
    func testTheTokenIsRenewedOnce() async throws {
        try await withUnderstudy { server in
            try await server.activate("rezolve-token-expires-mid-session")
            let app = try await Ada.app(server)
            for _ in 1...4 {
                let addresses = try await app.addresses()
                XCTAssertEqual(addresses, ["Home"])
            }
            let isTrue = await server.expectCalls(.exactly(1), where: ["failure": "token-expired"])
            XCTAssertTrue(isTrue)
        }
    }
}
