/// Why an authority is unusable or cannot issue; the description is one line for the user.
package enum CertificateAuthorityError: Error, Hashable, CustomStringConvertible {
    case unreadable(TLSIdentityError)
    case noAuthority
    case noName
    case invalidName(String)
    case tooLong
    case failed(String)

    package var description: String {
        switch self {
        case .unreadable(let error): error.description
        case .noAuthority: "the certificate is not an authority's: it would need CA:TRUE among its constraints."
        case .noName: "there is no name to issue a certificate for: give a host name or an IP address."
        case .invalidName(let name):
            "\"\(name)\" is not a name for a certificate: give a host name such as localhost or *.example.test, or an IP address."
        case .tooLong: "a server's certificate may be valid for 397 days at most."
        case .failed(let reason): "OpenSSL cannot make the certificate: \(reason)."
        }
    }
}
