/// The fingerprint of RSA keys from a smart-card library whose primes can be found (CVE-2017-15361).
///
/// Those primes are powers of 65537 modulo the product of all small primes, so the modulus is too: modulo each small
/// prime it lies in the subgroup that 65537 generates. Fewer than one in a hundred million other moduli do.
/// Source: Nemec and others, “The Return of Coppersmith's Attack”, 2017, section 2.
enum ROCAFingerprint {
    /// The small primes that even the shortest keys use, with the remainders of the powers of 65537; primes for which
    /// those are the whole group tell nothing and are omitted.
    private static let subgroups: [(prime: Int, powers: Set<Int>)] = (3...167).compactMap { candidate in
        guard (2..<candidate).allSatisfy({ candidate % $0 != 0 }) else { return nil }
        var powers: Set<Int> = []
        var power = 1
        while powers.insert(power).inserted { power = power * 65537 % candidate }
        return powers.count == candidate - 1 ? nil : (candidate, powers)
    }

    /// Whether a modulus, most significant byte first, has the fingerprint.
    static func isPresent(in modulus: [UInt8]) -> Bool {
        subgroups.allSatisfy { prime, powers in
            powers.contains(modulus.reduce(0) { ($0 << 8 | Int($1)) % prime })
        }
    }
}
