resource "azurerm_servicebus_subscription_rule" "big" {
  sql_filter = <<-EOT
    amount > 1000
    AND region = 'EU'
  EOT
}
