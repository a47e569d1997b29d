package import JSON
package import Tokens

/// Reads a set of public keys, fetched or supplied: takes the usable ones, and reports the rest.
package struct PublishedKeysReader {
    let form: RemoteKeys.Form
    let algorithm: Algorithm

    /// The usable keys in the set's order; of several with the same id, the first.
    package private(set) var keys: [VerificationKey] = []
    /// Why others were left out; truncated for very large sets.
    package private(set) var skipped: [SkippedKey] = []
    /// An id that a second usable key has.
    package private(set) var repeatedID: String?
    /// Whether keys were left out only because there are too many.
    package private(set) var isOverfull = false

    /// ours: limits for one set; providers publish two or three keys.
    package static let mostKeys = 100
    private static let mostSkipped = 100

    /// Creates a reader for sets of that form, for keys that verify with that algorithm.
    package init(form: RemoteKeys.Form, algorithm: Algorithm) {
        self.form = form
        self.algorithm = algorithm
    }

    /// Reads the content.
    ///
    /// - Throws: why it yields no keys.
    mutating func read(_ body: [UInt8]) throws(KeyFetchProblem) {
        let value: JSON
        do {
            value = try JSON.parse(body)
        } catch {
            throw .notJSON("\(error)")
        }
        try read(value)
    }

    /// Reads a set that is already parsed.
    ///
    /// - Throws: ``KeyFetchProblem/otherForm(_:)`` or ``KeyFetchProblem/noUsableKey``.
    package mutating func read(_ value: JSON) throws(KeyFetchProblem) {
        switch form {
        case .keySet: try readKeySet(value)
        case .certificates: try readCertificates(value)
        }
        if keys.isEmpty { throw .noUsableKey }
    }

    private mutating func readKeySet(_ value: JSON) throws(KeyFetchProblem) {
        let set: KeySet
        do {
            set = try KeySet(jwks: value)
        } catch {
            throw .otherForm("an object with an array “keys” (RFC 7517)")
        }
        for key in set.skipped {
            let name = key.id.map { " “\($0.prefix(100))”" } ?? ""
            skip("key \(key.index)\(name): \(key.reason)", isPrivate: key.reason == .privateKey)
        }
        for key in set.keys { take(key) }
    }

    private mutating func readCertificates(_ value: JSON) throws(KeyFetchProblem) {
        guard let members = value.object, members.allSatisfy({ $0.value.string != nil }) else {
            throw .otherForm("an object of key ids and PEM certificates")
        }
        for member in members {
            do throws(KeyError) {
                // Anything after the first certificate is its chain, which is not checked.
                let keys = try VerificationKey.pem(member.value.string ?? "", id: member.name)
                guard let key = keys.first else { continue }
                if key.validity == nil { skip("\(key): no certificate") } else { take(key) }
            } catch {
                skip("“\(member.name.prefix(100))”: \(error)", isPrivate: error == .privateKey)
            }
        }
    }

    /// Takes a key if it is usable.
    package mutating func take(_ key: VerificationKey) {
        guard key.algorithms.contains(algorithm) else {
            skip("\(key): not for \(algorithm.rawValue)")
            return
        }
        if let id = key.id, keys.contains(where: { $0.id?.hasSameBytes(as: id) == true }) {
            if repeatedID == nil { repeatedID = id }
            skip("\(key): the name has been given already")
            return
        }
        guard keys.count < Self.mostKeys else {
            isOverfull = true
            skip("\(key): there are \(Self.mostKeys) before it")
            return
        }
        keys.append(key.limited(to: [algorithm]))
    }

    private mutating func skip(_ phrase: String, isPrivate: Bool = false) {
        // A private key is reported even after many others.
        if skipped.count < Self.mostSkipped || isPrivate && skipped.count < 2 * Self.mostSkipped {
            skipped.append(SkippedKey(phrase, isPrivate: isPrivate))
        }
    }
}
