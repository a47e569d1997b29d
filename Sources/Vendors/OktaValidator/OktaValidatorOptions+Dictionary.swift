extension OktaValidatorOptions {
    /// Creates options from a dictionary with the validator page's names: `issuer`, `audience`, `nonce`, `cid`, `scp`,
    /// `typ` and any other claim with a string, `exp` and `iat` with a boolean, `leeway` with a whole number of
    /// seconds.
    ///
    /// A value of another type is a programming error and stops the program at once (ours); see ``problem(in:)``.
    public init(_ dictionary: [String: Any]) {
        do throws(OktaOptionProblem) {
            self = try Self.read(dictionary)
        } catch {
            preconditionFailure("OktaValidatorOptions: \(error)")
        }
    }

    /// What is wrong with a dictionary, in a sentence; `nil` if options can be created from it.
    public static func problem(in dictionary: [String: Any]) -> String? {
        do throws(OktaOptionProblem) {
            _ = try read(dictionary)
            return nil
        } catch {
            return error.description
        }
    }

    private static func read(_ dictionary: [String: Any]) throws(OktaOptionProblem) -> OktaValidatorOptions {
        var options = OktaValidatorOptions()
        // In order, so that of two wrong values the same one is named each time.
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "issuer": options.issuer = try cast(value, of: name, "a string")
            case "audience": options.audience = try cast(value, of: name, "a string")
            case "nonce": options.nonce = try cast(value, of: name, "a string")
            case "exp": options.checksExpiry = try cast(value, of: name, "true or false")
            case "iat": options.checksIssuedAt = try cast(value, of: name, "true or false")
            case "leeway": options.leeway = try cast(value, of: name, "a whole number")
            case "cid": options.clientID = try cast(value, of: name, "a string")
            case "scp": options.scopes = try cast(value, of: name, "a string")
            case "typ": options.type = try cast(value, of: name, "a string")
            default: options.claims[name] = try cast(value, of: name, "a string")
            }
        }
        return options
    }

    private static func cast<Value>(
        _ value: Any, of name: String, _ expected: String
    ) throws(OktaOptionProblem) -> Value {
        guard let value = value as? Value else {
            throw OktaOptionProblem("the option \(name) is of type \(Swift.type(of: value)); expected \(expected).")
        }
        return value
    }
}

/// Why a dictionary is no set of options.
struct OktaOptionProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
