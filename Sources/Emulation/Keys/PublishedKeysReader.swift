import JSON
import Tokens

/// Reads the content of an answer to a request for keys.
struct PublishedKeysReader {
    let form: RemoteKeys.Form
    let algorithm: Algorithm

    private(set) var keys: [VerificationKey] = []
    private(set) var skipped: [String] = []

    init(form: RemoteKeys.Form, algorithm: Algorithm) {
        self.form = form
        self.algorithm = algorithm
    }

    /// Reads the content.
    ///
    /// - Throws: why no key can be had from it.
    mutating func read(_ body: [UInt8]) throws(KeyFetchProblem) {
        let value: JSON
        do {
            value = try JSON.parse(body)
        } catch {
            throw .notJSON("\(error)")
        }
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
        skipped = set.skipped.map { "key \($0.index)\($0.id.map { " “\($0)”" } ?? ""): \($0.reason)" }
        for key in set.keys { take(key) }
    }

    private mutating func readCertificates(_ value: JSON) throws(KeyFetchProblem) {
        guard let members = value.object, members.allSatisfy({ $0.value.string != nil }) else {
            throw .otherForm("an object of key ids and PEM certificates")
        }
        for member in members {
            do throws(KeyError) {
                // What follows the first certificate is its chain, which nobody checks.
                let keys = try VerificationKey.pem(member.value.string ?? "", id: member.name)
                if let key = keys.first { take(key) }
            } catch {
                skipped.append("“\(member.name)”: \(error)")
            }
        }
    }

    private mutating func take(_ key: VerificationKey) {
        guard key.algorithms.contains(algorithm) else {
            skipped.append("\(key): not for \(algorithm.rawValue)")
            return
        }
        if let id = key.id, keys.contains(where: { $0.id?.hasSameBytes(as: id) == true }) {
            skipped.append("\(key): the name has been given already")
            return
        }
        keys.append(key.limited(to: [algorithm]))
    }
}
