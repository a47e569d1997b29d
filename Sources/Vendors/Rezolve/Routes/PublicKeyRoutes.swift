import Emulation
import JSON
import Tokens

/// The customer's key pair. Source: creating it at registration is documented (JWT page); the call is observed.
extension Rezolve {
    /// Answers with the public half in PEM once the pair has been made.
    static func readPublicKey(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(Refused) -> Reply {
        guard let key = try keyPair(of: customer) else { return .wait(customer.keyPair.make) }
        return .json(["public_key": JSON(key.publicPEM)])
    }

    /// The customer's key pair; `nil` while it is being made.
    static func keyPair(of customer: RezolveCustomer) throws(Refused) -> SigningKey? {
        do {
            return try customer.keyPair.key()
        } catch {
            throw Refusal(.serviceUnavailable, because: "no key pair could be made: \(error); expected one of RSA")
        }
    }
}
