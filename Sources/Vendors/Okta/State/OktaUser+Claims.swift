import JSON

/// A user as userinfo tells. Source: ref; which members of a profile they come from: api.
extension OktaUser {
    func claims(for scopes: [String], _ accounts: OktaAccounts) -> JSONObject {
        var claims: JSONObject = ["sub": .string(id)]
        if scopes.contains("profile") { appendProfile(to: &claims) }
        if scopes.contains("email") {
            claims.append("email", .string(address))
            claims.append("email_verified", true)
        }
        if scopes.contains("phone"), let phone = text("mobilePhone") ?? text("primaryPhone") {
            claims.append("phone_number", .string(phone))
        }
        if scopes.contains("address") { claims.append("address", .object(postalAddress)) }
        if scopes.contains("groups") {
            claims.append("groups", .array(accounts.groupNames(groups).map(JSON.string)))
        }
        return claims
    }

    private func appendProfile(to claims: inout JSONObject) {
        claims.append("name", .string(name))
        claims.append("nickname", .string(text("nickName") ?? ""))
        claims.append("given_name", .string(firstName))
        if let middleName = text("middleName") { claims.append("middle_name", .string(middleName)) }
        claims.append("family_name", .string(lastName))
        if let profileURL = text("profileUrl") { claims.append("profile", .string(profileURL)) }
        claims.append("preferred_username", .string(login))
        // Profiles have en_US, tokens en-US.
        claims.append("locale", .string(text("locale")?.replacing("_", with: "-") ?? "en-US"))
        claims.append("zoneinfo", .string(text("timezone") ?? "UTC"))
        claims.append("updated_at", JSON(updated.wholeSeconds))
    }

    private var postalAddress: JSONObject {
        let parts = [
            ("street_address", "streetAddress"), ("locality", "city"), ("region", "state"), ("postal_code", "zipCode"),
            ("country", "countryCode"),
        ]
        return JSONObject(parts.compactMap { claim, member in text(member).map { (claim, .string($0)) } })
    }

    private func text(_ member: String) -> String? { profile[member]?.string }
}
