param sqlFilter string
param subscriptions array = [
  {
    name: 'mail'
    ruleSqlExpression: 'kind = \'mail\''
  }
]
var rules = [
  {
    name: 'sms'
    sqlFilter: 'kind = \'sms\''
  }
]
resource t 'Microsoft.ServiceBus/namespaces/topics@2022-10-01' = {
  name: 't'
}
