/// The name of a sandbox: 1 to 63 lowercase letters, digits and hyphens, so that it can also be a host label.
public enum SandboxName {
    /// The sandbox of requests that name none.
    public static let standard = "default"

    /// A regular expression for valid names.
    package static let pattern = "^[a-z0-9-]{1,63}$"

    public static func isValid(_ text: some StringProtocol) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
