import Emulation
import Foundation
import JSON
import Support
import Testing
import Understudy

@testable import Rezolve

/// The allowed content of `accounts.yaml` and its effects.
@Suite("Rezolve's accounts")
struct AccountsTests {
    private static let partners = """
        device_id: "d"
        partners:
          - { id: "317", api_key: "k", auth_key: "secret" }
        """

    private static let customer = """
        customers:
          - entity: "e"
            partner: "317"
            partner_entity_id: "u"
            created: 1800000000
        """

    /// Rezolve's fixtures with other accounts layered on top.
    private func emulator(_ accounts: String) throws -> Emulator {
        let fixtures = try OwnFixtures()
        try fixtures.write(accounts, to: "rezolve/accounts.yaml")
        return try fixtures.emulator(of: "rezolve")
    }

    @Test("while there is one partner, guests and RUA do without an api key, and core does not")
    func onePartner() async throws {
        let text = [Self.partners, Self.customer, "users: []"].joined(separator: "\n")
        let world = try await World(on: Stage(try emulator(text)))
        try await world.call(.post, "/api/v2/authentication/register/guest").expect(200)
        try await world.call(.post, "/v2/credentials/register/guest").expect(200)
        try await world.call(.post, "/v2/credentials/register", [], #"{"username":"u","password":"p"}"#).expect(201)
        #expect(
            try await world.call(.post, "/v2/credentials/register/guest", [("x-rezolve-partner-apikey", "x")]).failure
                == "rua-api-key-wrong")
        try await world.call(.post, "/api/v2/authentication/register/guest", [("x-rezolve-partner-apikey", "x")])
            .expectDenied("masked-api-key")
        let token = try await world.mint("rezolve/registration")
        try await world.call(.post, "/api/v1/authentication/register", World.Fields().bearer(token), "{}")
            .expectDenied("masked-api-key")
    }

    /// Invalid accounts and the message for each.
    private static let wrong: [(String, String)] = [
        ("partners: []", "1:1: member “device_id” is missing"),
        ("device_id: 7", "1:12: found the number 7; expected a string; write it in quotes"),
        (
            partners.replacing(#""317""#, with: "317"),
            "3:11: found the number 317; expected a string; write it in quotes"
        ),
        (partners.replacing("auth_key", with: "auth_kay"), "3:32: unknown member “auth_kay”; did you mean “auth_key”?"),
        (partners.replacing("secret", with: ""), "3:5: the auth key cannot be used"),
        (
            partners + "\n" + customer.replacing("317", with: "318"), "5:5: customer e has the unknown partner 318"
        ),
        (
            partners + "\n" + customer.replacing("1800000000", with: "now"),
            "8:14: found the string “now”; expected a number"
        ),
        (
            partners + "\n" + customer + "\n    addresses:\n      - { id: a, phone_id: p }",
            "10:9: address a has the unknown phone p"
        ),
        (
            partners + "\n" + customer + "\n    key_pair: keys/none.pem", "no such file; looked in"
        ),
        (
            partners + "\n" + customer + "\nusers:\n  - { id: 1, customer: x, username: u, password: p }",
            "10:5: the customer x is unknown"
        ),
    ]

    @Test("wrong accounts are refused by file, line and column", arguments: wrong)
    func refused(_ accounts: String, _ complaint: String) throws {
        let text = accounts.contains("\nusers:") ? accounts : accounts + "\nusers: []"
        #expect { try emulator(text) } throws: { error in
            "\(error)".contains(complaint)
                && "\(error)".contains(complaint.hasPrefix("no such") ? "none.pem" : "accounts.yaml:")
        }
    }

    @Test(
        "a key pair that is none, or a broken one, is named by its file",
        arguments: [("", "nothing"), ("MIIEvgIBADANBg", "AAAAAAAAAAAAAA"), ("MIIEvg", "MIIEvw"), ("-----END", "")])
    func brokenKey(_ sound: String, _ broken: String) throws {
        let text = try String(contentsOfFile: Repository.root + "/Fixtures/rezolve/keys/ada.pem", encoding: .utf8)
        let folder = try TemporaryFolder([
            "rezolve/keys/ada.pem": sound.isEmpty ? broken : text.replacing(sound, with: broken)
        ])
        #expect {
            try Emulator(fixtures: FixtureStore(layers: [folder.path, Repository.root + "/Fixtures"]))
        } throws: {
            "\($0)".contains("rezolve/keys/ada.pem: is not a private key in PEM")
        }
    }

    @Test("what calls add counts as long as it is there: customers, users, and the entries of books")
    func size() throws {
        let vendor = try Rezolve(fixtures: VendorFixtures(store: Repository.fixtures, folder: "rezolve"))
        var state = vendor.initialState
        #expect(vendor.size(of: state) == StateSize())
        var customer = RezolveCustomer(
            entityID: "e", partnerID: "317", partnerEntityID: "u", created: Moment(unixSeconds: 0))
        state.store(customer)
        state.users.store(RUAUser(id: 5000, customer: customer, created: Moment(unixSeconds: 0)))
        let before = vendor.size(of: state)
        #expect(before.records == 2)
        customer.addresses.append(RezolveAddress(id: "a", line1: String(repeating: "x", count: 5000)))
        state.store(customer)
        #expect((5000...6000).contains(vendor.size(of: state).bytes - before.bytes))
        state.remove(entity: "e")
        #expect(vendor.size(of: state) == StateSize())
    }
}
