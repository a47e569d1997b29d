import HTTPTypes

extension HTTPField.Name {
    /// What the answer is for, as browsers say it; no script can set it. Fetch Metadata Request Headers, section 2.1.
    fileprivate static let fetchDestination = Self("Sec-Fetch-Dest") ?? .accept
    fileprivate static let upgradeInsecureRequests = Self("Upgrade-Insecure-Requests") ?? .accept
}

extension Request {
    /// Whether a browser may show the answer in a frame of a page.
    ///
    /// Browsers say so at addresses that they trust, such as those of this machine and those of TLS. At others they still
    /// mark what they navigate to, and there a frame cannot be told from a window.
    public var mayBeForFrame: Bool {
        guard let destination = fields.bytes(of: .fetchDestination) else {
            return fields.bytes(of: .upgradeInsecureRequests) != nil
        }
        return ["iframe", "frame", "embed", "object", "fencedframe"].contains { destination.elementsEqual($0.utf8) }
    }
}
