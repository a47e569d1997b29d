import JSON
import Tokens

/// Reads the content of an answer to a request for keys.
struct PublishedKeysReader {
    let form: RemoteKeys.Form
    let algorithm: Algorithm

    private(set) var keys: [VerificationKey] = []
    /// Why others were left out; of a set without end no more than anybody reads.
    private(set) var skipped: [String] = []

    /// ours: bounds of one set; providers publish two or three keys.
    private static let mostKeys = 100
    private static let mostSkipped = 100

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
        for key in set.skipped {
            skip("key \(key.index)\(key.id.map { " “\($0.prefix(100))”" } ?? ""): \(key.reason)")
        }
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
                guard let key = keys.first else { continue }
                if key.validity == nil { skip("\(key): no certificate") } else { take(key) }
            } catch {
                skip("“\(member.name.prefix(100))”: \(error)")
            }
        }
    }

    private mutating func take(_ key: VerificationKey) {
        guard key.algorithms.contains(algorithm) else {
            skip("\(key): not for \(algorithm.rawValue)")
            return
        }
        if let id = key.id, keys.contains(where: { $0.id?.hasSameBytes(as: id) == true }) {
            skip("\(key): the name has been given already")
            return
        }
        guard keys.count < Self.mostKeys else {
            skip("\(key): there are \(Self.mostKeys) before it")
            return
        }
        keys.append(key.limited(to: [algorithm]))
    }

    private mutating func skip(_ phrase: String) {
        if skipped.count < Self.mostSkipped { skipped.append(phrase) }
    }
}
