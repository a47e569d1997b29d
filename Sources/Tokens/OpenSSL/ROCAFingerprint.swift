/// The mark of RSA keys from a library of smart cards whose primes can be found (CVE-2017-15361).
///
/// Its primes are powers of 65537 modulo the product of all small primes, and so is their product: modulo each small
/// prime it lies in the subgroup that 65537 generates. Of other moduli, fewer than one in a hundred million does so.
/// Source: Nemec and others, “The Return of Coppersmith's Attack”, 2017, section 2.
enum ROCAFingerprint {
    /// The small primes up to that which even the shortest keys use, but for those that tell nothing, since 65537
    /// generates the whole group; with the remainders that its powers leave.
    private static let subgroups: [(prime: Int, powers: Set<Int>)] = (3...167).compactMap { candidate in
        guard (2..<candidate).allSatisfy({ candidate % $0 != 0 }) else { return nil }
        var powers: Set<Int> = []
        var power = 1
        while powers.insert(power).inserted { power = power * 65537 % candidate }
        return powers.count == candidate - 1 ? nil : (candidate, powers)
    }

    /// Whether a modulus, most significant byte first, bears the mark.
    static func isPresent(in modulus: [UInt8]) -> Bool {
        subgroups.allSatisfy { prime, powers in
            powers.contains(modulus.reduce(0) { ($0 << 8 | Int($1)) % prime })
        }
    }
}
