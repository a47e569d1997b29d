import Foundation
import HTTPTypes
import Logging

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A small app that reads its user's addresses and follows the backend's advice for tokens: renew once on 401 and repeat
/// the call once; after a second 401 the user is logged out.
public actor AddressApp {
    /// The app's configuration for its backend and user.
    public struct Account: Sendable {
        let backend: URL
        let apiKey: String
        let device: String
        let entity: String

        /// Creates an account at a backend.
        public init(backend: URL, apiKey: String, device: String, entity: String) {
            self.backend = backend
            self.apiKey = apiKey
            self.device = device
            self.entity = entity
        }
    }

    /// The reason that there are no addresses.
    public enum Problem: Error, Equatable {
        /// The renewal did not help.
        case loggedOut
        /// The backend answered with this status.
        case refused(Int)
    }

    private let account: Account
    private let log = Logger(label: "address-app")
    private var token: String
    /// The number of token renewals.
    public private(set) var renewals = 0

    /// Creates an app whose user has signed in.
    public init(_ account: Account, token: String) {
        self.account = account
        self.token = token
    }

    /// The names of the addresses.
    public func addresses() async throws -> [String] {
        var (status, content) = try await get("api/v1/partner/317/customer/\(account.entity)/addressbook")
        if status == 401 {
            try await renew()
            (status, content) = try await get("api/v1/partner/317/customer/\(account.entity)/addressbook")
            if status == 401 { throw Problem.loggedOut }
        }
        guard status == 200 else { throw Problem.refused(status) }
        struct Address: Decodable { let short_name: String }
        return try JSONDecoder().decode([Address].self, from: content).map(\.short_name)
    }

    private func renew() async throws {
        struct Renewal: Decodable { let accessToken: String }
        let (status, content) = try await get("v2/credentials/ping")
        guard status == 200 else { throw Problem.refused(status) }
        log.info("renewed the token")
        token = String(try JSONDecoder().decode(Renewal.self, from: content).accessToken.dropFirst("Bearer ".count))
        renewals += 1
    }

    private func get(_ path: String) async throws -> (Int, Data) {
        var request = URLRequest(url: account.backend.appending(path: path))
        request.setValue(account.apiKey, forHTTPHeaderField: "x-rezolve-partner-apikey")
        request.setValue(account.device, forHTTPHeaderField: "x-rezolve-device-id")
        request.setValue("Bearer \(token)", forHTTPHeaderField: HTTPField.Name.authorization.rawName)
        let (content, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, content)
    }
}
