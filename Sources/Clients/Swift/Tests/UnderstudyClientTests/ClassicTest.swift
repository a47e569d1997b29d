import UnderstudyClient
import XCTest

final class AddressTests: XCTestCase {
    func testTheAppReadsItsAddresses() async throws {
        try await server.value.withSandbox(report: { XCTFail($0) }) { sandbox in
            let app = App(backend: sandbox.baseURL, token: try await sandbox.mint("rezolve/login"))
            let status = try await app.readAddresses()
            XCTAssertEqual(status, 200)
            try await sandbox.expectCalls(where: ["route": "addressbook.list", "status": 200])
        }
    }
}
