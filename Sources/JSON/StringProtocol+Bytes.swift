extension StringProtocol {
    /// Whether both texts have the same UTF-8 bytes.
    ///
    /// `==` also equates texts that differ in Unicode normalization; a server that compares an issuer or a member name
    /// byte for byte does not.
    public func hasSameBytes(as other: some StringProtocol) -> Bool {
        // Equal bytes imply equality, and unequal texts are the usual case with a fast answer.
        self == other && utf8.elementsEqual(other.utf8)
    }
}
